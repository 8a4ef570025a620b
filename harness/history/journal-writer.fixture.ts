// A writer to be killed: appends one event a millisecond, and says on stdout how many it has appended, and when on its
// own clock (in seconds).

import { Journal } from './journal.ts';
import { nanos } from './op.ts';

const [path = ''] = process.argv.slice(2);
const journal = new Journal(path, {
  format: 'lockpick-history',
  version: 1,
  clock: 'shared',
  clockErrorNanos: 0,
  meta: {},
});
let id = 0;
setInterval(() => {
  id += 1;
  journal.append({ type: 'invoke', id, time: nanos(id), process: 'c1', op: 'acquire', lock: 'k1' });
  process.stdout.write(`${id} ${process.uptime()}\n`);
}, 1);
