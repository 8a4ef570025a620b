// The libraries behind etcd's real port, loaded when needed: a client of another service must not pay for them. They are
// CommonJS, so all they export is their default.

export async function loadDriver() {
  const [etcd3, cockatiel] = await Promise.all([import('etcd3'), import('cockatiel')]);
  return { etcd3: etcd3.default, cockatiel: cockatiel.default };
}
