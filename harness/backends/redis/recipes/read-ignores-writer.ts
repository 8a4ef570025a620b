// Wrong on purpose: who wants to read joins the readers without a look at who writes.

import type { RedisRecipe } from '../port.ts';
import { JOIN, readWrite, readWriteClient } from './read-write.ts';

export const readIgnoresWriter: RedisRecipe = {
  ...readWrite,
  name: 'read-ignores-writer',
  summary: 'as read-write, but a reader does not look for a writer',
  flaw: 'a reader is let in while somebody writes',
  lockClient: (redis, now) => readWriteClient(redis, now, JOIN),
};
