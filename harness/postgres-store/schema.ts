// The store's side of the store: tables and the two functions in which a defence decides. It runs in PostgreSQL, once
// per run, before any client connects. The audit table is the checkers' ground truth, so its order must be the order
// in which attempts took effect on a key.
//
// Why `seq` is that order: every attempt first locks the register's row, and only then draws from the sequence (which
// hands out single numbers: CACHE 1). The lock is held until commit, so of two attempts on one key the one with the
// lower `seq` was committed before the other one looked at the row.

/** Creates what is missing; safe to run again. */
export const SCHEMA_SQL = `
create table if not exists register (
  defence text, key text, value text not null, version bigint not null,
  highest bigint, -- the highest token seen; null: none yet
  primary key (defence, key)
) with (fillfactor = 50);

create table if not exists audit (
  seq bigint generated always as identity (cache 1) primary key,
  defence text not null, key text not null, op bigint not null, process text not null, token bigint,
  base bigint not null, -- the version the writer had read
  version bigint not null, -- the version that was current when the attempt took effect
  value text not null, accepted boolean not null
);

create or replace function attempt_write(
  in_defence text, in_key text, in_op bigint, in_process text, in_token bigint, in_base bigint, in_value text,
  out was_accepted boolean, out new_version bigint, out highest_token bigint
) language plpgsql as $$
declare r register%rowtype;
begin
  select * into strict r from register where defence = in_defence and key = in_key for update;
  highest_token := r.highest;
  was_accepted := in_defence = 'none' or coalesce(in_token >= coalesce(r.highest, in_token), false);
  insert into audit (defence, key, op, process, token, base, version, value, accepted)
    values (in_defence, in_key, in_op, in_process, in_token, in_base, r.version, in_value, was_accepted);
  if was_accepted then
    new_version := r.version + 1;
    update register set value = in_value, version = new_version, highest = greatest(r.highest, in_token)
      where defence = in_defence and key = in_key;
  end if;
end $$;

-- A stale reader is refused: what it would compute could not be written any more, and so it learns it at once.
create or replace function fenced_read(
  in_defence text, in_key text, in_token bigint, out current_value text, out current_version bigint
) language plpgsql as $$
declare r register%rowtype;
begin
  select * into strict r from register where defence = in_defence and key = in_key for update;
  if in_token < r.highest then return; end if;
  if r.highest is null or in_token > r.highest then
    update register set highest = in_token where defence = in_defence and key = in_key;
  end if;
  current_value := r.value;
  current_version := r.version;
end $$;
`;
