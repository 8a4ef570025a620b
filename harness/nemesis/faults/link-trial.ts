// Measures a link in one direction: numbered datagrams are sent over it, and whoever receives them counts how many came,
// came twice, came too early, and how long they took. Before that the sender asks and is answered, which gives the round
// trip. In the sandboxes of both ends, at once, so that it says something of the network and nothing of the processes.

import type { Node } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import { millis } from '../../history/op.ts';

const EXEC_TIME_LIMIT = millis(20_000);
const DATAGRAMS = 200;
/** Of a thousand bytes. */
export const DATAGRAM_KILOBITS = 8;
const FIRST_PORT = 30_000;
const PORTS = 10_000;

/**
 * The receiver answers `?` with `!` and counts numbers, until nothing has come for a second after the first number, or
 * nothing at all for four. The sender repeats `?` every 100 ms until it is answered, five times over, and then sends the
 * numbers, a kilobyte each. Times are of /proc/uptime, exact to 10 ms.
 */
const SCRIPT = String.raw`
use strict; use Socket;
my ($role, $port, $peer, $count) = @ARGV;
sub now { open my $file, '<', '/proc/uptime' or die "uptime: $!"; return (split ' ', <$file>)[0] * 1000 }
socket(my $socket, AF_INET, SOCK_DGRAM, 0) or die "socket: $!";
bind($socket, sockaddr_in($port, INADDR_ANY)) or die "port $port: $!";
my $there = sockaddr_in($port, inet_aton($peer));
sub receive {
  my $read = ''; vec($read, fileno $socket, 1) = 1;
  return undef unless select($read, undef, undef, shift) > 0;
  my $text;
  return defined recv($socket, $text, 2000, 0) ? $text : undef;
}
if ($role eq 'send') {
  my @trips;
  my $end = now() + 2500;
  while (@trips < 5 && now() < $end) {
    my $start = now(); my $text;
    for (1 .. 5) {
      send($socket, '?' . scalar @trips, 0, $there);
      do { $text = receive(0.1) } until !defined $text || $text eq '!' . scalar @trips;
      last if defined $text;
    }
    push @trips, now() - $start if defined $text;
  }
  print(-1), exit unless @trips;
  for (1 .. $count) { send($socket, $_ . ' ' x 1000, 0, $there); select(undef, undef, undef, 0.001) unless $_ % 4 }
  print((sort { $a <=> $b } @trips)[@trips / 2]);
} else {
  my (%seen, $first, $last); my ($received, $early, $highest) = (0, 0, 0);
  while (defined(my $text = receive(defined $first ? 1 : 4))) {
    if ($text =~ /^\?(\d)/) { send($socket, "!$1", 0, $there); next }
    my $number = int $text; $last = now(); $first = $last unless defined $first;
    $received++; $seen{$number}++;
    $early++ if $number < $highest && $seen{$number} == 1;
    $highest = $number if $number > $highest;
  }
  print join ' ', $received, scalar keys %seen, $early, ($last // 0) - ($first // 0);
}
`;

export interface LinkTrial {
  /** Median, exact to 10 ms. */
  readonly roundTripMillis: number;
  readonly sent: number;
  readonly received: number;
  /** Of those, the different ones. */
  readonly distinct: number;
  /** Came after one that was sent later. */
  readonly overtaken: number;
  /** From the first to the last. */
  readonly tookMillis: number;
}

let trials = 0;

/** Takes about 1.5 s; undefined: nothing came through in four. Throws HarnessError('environment'). */
export async function tryLink(from: Node, to: Node): Promise<LinkTrial | undefined> {
  const port = FIRST_PORT + (trials++ % PORTS);
  const run = async (node: Node, role: string, peer: Node): Promise<readonly number[]> => {
    const command = ['perl', '-e', SCRIPT, role, `${port}`, peer.address, `${DATAGRAMS}`];
    const { exitCode, stdout, stderr } = await node.execInSandbox(command, EXEC_TIME_LIMIT);
    if (exitCode === 0) return stdout.split(' ').map(Number);
    throw new HarnessError('environment', `the links of node ${node.name} could not be tried`, {
      detail: stderr,
    });
  };
  const [[received = 0, distinct = 0, overtaken = 0, tookMillis = 0], [roundTripMillis = -1]] =
    await Promise.all([run(to, 'receive', from), run(from, 'send', to)]);
  if (roundTripMillis < 0) return undefined;
  return { roundTripMillis, sent: DATAGRAMS, received, distinct, overtaken, tookMillis };
}
