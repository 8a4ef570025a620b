// From an event to its line of a history: the other way of `decode-event.ts`. A run writes two lines an operation, so the
// lines of operations are put together field by field, always in the same order, whoever made the event; all others are
// left to `JSON.stringify`. Pure.

import type { AuditRow, Completion, Header, HistoryEvent, Invoke, Vote } from './op.ts';

/** One line, without its line break. Tokens become decimal strings. */
export function encodeEvent(event: HistoryEvent): string {
  if (event.type === 'invoke') return encodeInvoke(event);
  return 'op' in event ? encodeCompletion(event) : JSON.stringify(event, bigintAsText);
}

export function encodeHeader(header: Header): string {
  return JSON.stringify(header, bigintAsText);
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

function encodeInvoke(event: Invoke): string {
  const { lock, ttlMillis, owner, store, key, value, base, add, order, token } = event;
  let line = beginning(event);
  if (lock !== undefined) line += `,"lock":${quoted(lock)}`;
  if (event.try !== undefined) line += `,"try":${event.try}`;
  if (event.shared !== undefined) line += `,"shared":${event.shared}`;
  if (ttlMillis !== undefined) line += `,"ttlMillis":${ttlMillis}`;
  if (owner !== undefined) line += `,"owner":${quoted(owner)}`;
  if (store !== undefined) line += `,"store":${quoted(store)}`;
  if (key !== undefined) line += `,"key":${quoted(key)}`;
  if (value !== undefined) line += `,"value":${quoted(value)}`;
  if (base !== undefined) line += `,"base":${quoted(base)}`;
  if (add !== undefined) line += `,"add":${quoted(add)}`;
  if (order !== undefined) line += `,"order":${quoted(order)}`;
  if (token !== undefined) line += `,"token":"${token}"`;
  return `${line}}`;
}

function encodeCompletion(event: Completion): string {
  const { error, token, validUntil, released, value, version, applied, sealed, highest, votes, audit } =
    event;
  let line = beginning(event);
  if (error !== undefined) line += `,"error":${quoted(error)}`;
  if (token !== undefined) line += `,"token":"${token}"`;
  if (validUntil !== undefined) line += `,"validUntil":${validUntil}`;
  if (released !== undefined) line += `,"released":${released}`;
  if (value !== undefined) line += `,"value":${quoted(value)}`;
  if (version !== undefined) line += `,"version":${quoted(version)}`;
  if (applied !== undefined) line += `,"applied":${applied}`;
  if (sealed !== undefined) line += `,"sealed":${sealed}`;
  if (highest !== undefined) line += `,"highest":"${highest}"`;
  if (votes !== undefined) line += `,"votes":[${votes.map(encodeVote).join(',')}]`;
  if (audit !== undefined) line += `,"audit":[${audit.map(encodeAuditRow).join(',')}]`;
  return `${line}}`;
}

function encodeVote({ node, answer, at }: Vote): string {
  return `{"node":${quoted(node)},"answer":${quoted(answer)},"at":${at}}`;
}

function encodeAuditRow({
  seq,
  id,
  process,
  token,
  base,
  version,
  value,
  order,
  accepted,
}: AuditRow): string {
  let row = `{"seq":${quoted(seq)},"id":${id},"process":${quoted(process)}`;
  if (token !== undefined) row += `,"token":"${token}"`;
  row += `,"base":${quoted(base)},"version":${quoted(version)},"value":${quoted(value)}`;
  if (order !== undefined) row += `,"order":${quoted(order)}`;
  return `${row},"accepted":${accepted}}`;
}

function beginning({ type, id, time, process, op }: Invoke | Completion): string {
  return `{"type":"${type}","id":${id},"time":${time},"process":${quoted(process)},"op":"${op}"`;
}

/** Printable ASCII but quotes and backslashes: stands in JSON as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
