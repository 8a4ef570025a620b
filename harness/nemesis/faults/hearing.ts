// Measures who hears whom among nodes, in each direction by itself: every node sends datagrams to all others, listens to
// theirs, and knocks at their doors by TCP, all at the same time. A connection that is answered or refused was heard by
// both; one that stays silent by one at most; a datagram tells its own direction. Runs in the sandboxes, one exec a node,
// so that it says something of the network and nothing of the processes. Changes nothing.

import type { Node } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import { millis } from '../../history/op.ts';
import { isDeaf, type Grudge } from './grudge.ts';

/** A node that is reached answers within a few milliseconds; one that is cut off hangs for minutes. */
const SILENCE_MILLIS = 400;
/** Sandboxes begin one after another; whoever is expected is waited for. */
const PATIENCE_MILLIS = 3_000;
/** For those that are heard by somebody whom they do not hear, and so cannot know when he begins to listen. */
const UNSEEN_MILLIS = 1_000;
const EXEC_TIME_LIMIT = millis(20_000);
/** Nobody listens there: a node that can be reached refuses at once. */
const CLOSED_PORT = 9;
const FIRST_PORT = 40_000;
const PORTS = 20_000;

/**
 * Arguments: the port for datagrams, how long to listen at least and at most, and of each peer
 * `address:port:expected`, where `expected` says of what its silence is not waited for: h(eard), a(nswer). Prints the
 * addresses of peers that were heard, and of those that answered or refused a connection.
 */
const SCRIPT = String.raw`
use strict; use Socket; use Fcntl;
my ($port, $least, $most, @peers) = @ARGV;
sub now { open my $file, '<', '/proc/uptime' or die "uptime: $!"; return (split ' ', <$file>)[0] * 1000 }
my $quiet = 1e12;
socket(my $ear, AF_INET, SOCK_DGRAM, 0) or die "socket: $!";
bind($ear, sockaddr_in($port, INADDR_ANY)) or die "port $port: $!";
my (%knock, %missing, %heard, %answered);
for (@peers) {
  my ($peer, $door, $expected) = split /:/;
  $missing{"$_ $peer"} = 1 for split //, $expected;
  socket(my $socket, AF_INET, SOCK_STREAM, 0) or die "socket: $!";
  fcntl($socket, F_SETFL, O_NONBLOCK) or die "fcntl: $!";
  connect($socket, sockaddr_in($door, inet_aton($peer)));
  $knock{$peer} = $socket;
}
my $start = now();
until (now() > $start + $most) {
  if (!%missing) {
    $quiet = now() if $quiet == 1e12;
    last if now() > $start + $least && now() > $quiet + 100;
  }
  send($ear, 'hear', 0, sockaddr_in($port, inet_aton((split /:/)[0]))) for @peers;
  my $read = ''; my $write = '';
  vec($read, fileno $ear, 1) = 1;
  vec($write, fileno $_, 1) = 1 for values %knock;
  next unless select(my $can_read = $read, my $can_write = $write, undef, 0.02) > 0;
  if (vec($can_read, fileno $ear, 1) && defined(my $from = recv($ear, my $text, 16, 0))) {
    my $peer = inet_ntoa((sockaddr_in($from))[1]);
    $heard{$peer} = 1; delete $missing{"h $peer"};
  }
  for my $peer (grep { vec($can_write, fileno $knock{$_}, 1) } keys %knock) {
    my $error = unpack 'i', getsockopt($knock{$peer}, SOL_SOCKET, SO_ERROR);
    delete $knock{$peer};
    next unless $error == 0 || do { local $! = $error; $!{ECONNREFUSED} };
    $answered{$peer} = 1; delete $missing{"a $peer"};
  }
}
print join(' ', 'heard', sort keys %heard), "\n", join(' ', 'answered', sort keys %answered), "\n";
`;

/** By name: whom a node heard, and who answered it. */
export interface Hearing {
  heard(listener: string, speaker: string): boolean;
  /** Or refused it: both heard each other. */
  answered(from: string, by: string): boolean;
}

let probes = 0;

/**
 * Listens for about 0.4 s, or 1 s where not all are deaf both ways, longer for those that are not in `silent` and not heard yet; with nobody `silent`, only until
 * all are heard. Throws HarnessError('environment').
 */
export async function whoHearsWhom(nodes: readonly Node[], silent: Grudge): Promise<Hearing> {
  // Other probes may listen in the same sandbox at the same time.
  const port = FIRST_PORT + (probes++ % PORTS);
  const found = await Promise.all(
    nodes.map(async (node) => {
      const oneWay = [...(silent.get(node.name) ?? [])].some(
        (speaker) => !isDeaf(silent, speaker, node.name),
      );
      const least = silent.size === 0 ? 0 : oneWay ? UNSEEN_MILLIS : SILENCE_MILLIS;
      const peers = nodes
        .filter((peer) => peer !== node)
        .map(({ name, address, spec }) => {
          const heard = !isDeaf(silent, node.name, name);
          const expected = `${heard ? 'h' : ''}${heard && !isDeaf(silent, name, node.name) ? 'a' : ''}`;
          return `${address}:${spec.port ?? CLOSED_PORT}:${expected}`;
        });
      const command = ['perl', '-e', SCRIPT, `${port}`, `${least}`, `${PATIENCE_MILLIS}`, ...peers];
      const { exitCode, stdout, stderr } = await node.execInSandbox(command, EXEC_TIME_LIMIT);
      if (exitCode !== 0)
        throw new HarnessError('environment', `the network of node ${node.name} could not be listened to`, {
          detail: stderr,
        });
      const [heard = [], answered = []] = stdout.split('\n').map((line) => line.split(' ').slice(1));
      return [node.name, { heard: new Set(heard), answered: new Set(answered) }] as const;
    }),
  );
  const byName = new Map(found);
  const addresses = new Map(nodes.map(({ name, address }) => [name, address]));
  const has = (what: 'heard' | 'answered', at: string, peer: string): boolean =>
    byName.get(at)?.[what].has(addresses.get(peer) ?? '') === true;
  return {
    heard: (listener, speaker) => has('heard', listener, speaker),
    answered: (from, by) => has('answered', from, by),
  };
}
