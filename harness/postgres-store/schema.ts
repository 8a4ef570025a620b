// The store's side of the store: tables, and the functions in which a defence decides. It runs in PostgreSQL, once per
// run, before any client connects. The audit table is the checkers' ground truth, so its order must be the order in
// which attempts took effect on a key.
//
// Why `seq` is that order: every attempt is recorded while its transaction has the register's row locked, and the
// sequence hands out single numbers (CACHE 1). The lock is held until commit, so of two attempts on one key the one with
// the lower `seq` was committed before the other one was recorded. What a defence decides by comes before that, and is
// the real thing: the condition of an UPDATE, a unique index, a row lock held since the read, a queue with one writer.
// (The writers of a queue lock no row; there the advisory lock that makes them single does the same.)

/** Creates what is missing; safe to run again. */
export const SCHEMA_SQL = `
create table if not exists register (
  defence text, key text, value text not null, version bigint not null,
  highest bigint, -- the highest token seen; null: none yet
  orders text[] not null default '{}', -- those that were applied
  primary key (defence, key)
) with (fillfactor = 50);

create table if not exists audit (
  seq bigint generated always as identity (cache 1) primary key,
  defence text not null, key text not null, op bigint not null, process text not null, token bigint,
  base bigint not null, -- the version the writer had read; of a relative write, the one it met
  version bigint not null, -- the version that was current when the attempt took effect
  value text not null, order_id text, accepted boolean not null
);

create table if not exists step (
  key text, version bigint, order_id text, primary key (key, version), unique (key, order_id)
);

create table if not exists queue (
  seq bigint generated always as identity primary key, op bigint not null unique, key text not null,
  process text not null, token bigint, value text not null, added bigint not null, order_id text,
  accepted boolean, -- null: it waits
  version bigint
);
create index if not exists waiting on queue (key) where accepted is null;

create or replace function with_order(orders text[], in_order text) returns text[] language sql immutable as
  $$ select case when in_order is null then orders else orders || in_order end $$;

create or replace function attempt_write(
  in_defence text, in_key text, in_op bigint, in_process text, in_token bigint, in_base bigint, in_value text,
  in_add bigint, in_order text,
  out was_accepted boolean, out new_version bigint, out highest_token bigint
) language plpgsql as $$
declare r register%rowtype; written text := in_value; met bigint;
begin
  case in_defence
  when 'version-cas' then
    update register set value = in_value, version = version + 1, orders = with_order(orders, in_order)
      where defence = in_defence and key = in_key and version = in_base
      returning version into new_version;
  when 'conditional-update' then
    update register
      set value = value::bigint + in_add, version = version + 1, orders = with_order(orders, in_order)
      where defence = in_defence and key = in_key
        and value::bigint + in_add >= 0 and not coalesce(in_order = any (orders), false)
      returning version, value into new_version, written;
  when 'unique-constraint' then
    begin
      insert into step (key, version, order_id) values (in_key, in_base + 1, in_order);
      update register set value = in_value, version = in_base + 1, orders = with_order(orders, in_order)
        where defence = in_defence and key = in_key
        returning version into new_version;
    exception when unique_violation then
      null; -- the row of the step is undone, and the register was not reached
    end;
  else
    select * into strict r from register where defence = in_defence and key = in_key for update;
    if in_defence in ('none', 'row-lock') or in_token >= coalesce(r.highest, in_token) then
      update register set value = in_value, version = version + 1, highest = greatest(highest, in_token),
          orders = with_order(orders, in_order)
        where defence = in_defence and key = in_key
        returning version into new_version;
    end if;
  end case;
  was_accepted := new_version is not null;
  if was_accepted then
    met := new_version - 1; -- the row has been locked by the update
  else
    select version, highest into strict met, highest_token
      from register where defence = in_defence and key = in_key for update;
  end if;
  insert into audit (defence, key, op, process, token, base, version, value, order_id, accepted)
    values (in_defence, in_key, in_op, in_process, in_token, coalesce(in_base, met), met,
      coalesce(written, in_value), in_order, was_accepted);
end $$;

-- Applies what waits for this key, in the order of arrival, and says what came of in_op.
create or replace function serve_queue(
  in_key text, in_op bigint,
  out was_accepted boolean, out new_version bigint, out highest_token bigint
) language plpgsql as $$
declare q queue%rowtype; r register%rowtype; can_be boolean;
begin
  -- Whoever has this lock is the single writer of the key, until its transaction ends.
  perform pg_advisory_xact_lock(hashtextextended('queue of ' || in_key, 0));
  for q in select * from queue where key = in_key and accepted is null order by seq loop
    select * into strict r from register where defence = 'serialized-queue' and key = in_key;
    can_be := r.value::bigint + q.added >= 0 and not coalesce(q.order_id = any (r.orders), false);
    if can_be then
      q.value := r.value::bigint + q.added;
      update register set value = q.value, version = r.version + 1, orders = with_order(r.orders, q.order_id)
        where defence = 'serialized-queue' and key = in_key;
    end if;
    insert into audit (defence, key, op, process, token, base, version, value, order_id, accepted)
      values ('serialized-queue', in_key, q.op, q.process, q.token, r.version, r.version, q.value, q.order_id,
        can_be);
    update queue set accepted = can_be, version = r.version + 1 where seq = q.seq;
  end loop;
  select accepted, version into was_accepted, new_version from queue where op = in_op;
end $$;

-- A stale reader is refused: what it would compute could not be written any more, and so it learns it at once.
create or replace function fenced_read(
  in_defence text, in_key text, in_order text, in_token bigint,
  out current_value text, out current_version bigint, out is_applied boolean
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
  is_applied := coalesce(in_order = any (r.orders), false);
end $$;
`;
