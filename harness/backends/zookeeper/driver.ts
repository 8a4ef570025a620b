// The library behind ZooKeeper's real port, loaded when needed: a client of another service must not pay for it. It is
// CommonJS, so all it exports is its default.

/** With what would otherwise end the whole process put right. */
export async function loadDriver() {
  const { default: zooKeeper } = await import('node-zookeeper-client');
  tolerateUnknownCodes(zooKeeper.Exception);
  return zooKeeper;
}

const tolerant = new WeakSet<object>();

/**
 * For an error code that it does not know, such as that of a session that has moved to another server (-118), version
 * 1.1.3 throws while it reads from its socket, where nobody can catch it. Here such a code is a lost connection: unknown.
 */
function tolerateUnknownCodes(exception: object): void {
  const create: unknown = Reflect.get(exception, 'create');
  if (tolerant.has(exception) || typeof create !== 'function') return;
  tolerant.add(exception);
  Reflect.set(exception, 'create', (code: number, path?: string): unknown => {
    try {
      return Reflect.apply(create, exception, [code, path]);
    } catch {
      return Reflect.apply(create, exception, [Reflect.get(exception, 'CONNECTION_LOSS'), path]);
    }
  });
}
