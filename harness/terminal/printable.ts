// Texts from outside, as a terminal may be shown them. Names of locks, processes and files come from whoever wrote the
// history; an escape sequence in one of them could colour, move or erase what we say, and a line break could say it for us.

/** Control characters but the tab, line separators, and what turns the direction of writing. */
const HARMFUL = /(?!\t)[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu;

/** The same text on one line, with what a terminal would obey written as in JSON. */
export function printable(text: string): string {
  return text.replace(HARMFUL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same, but line breaks stay: of a message of ours that has several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}
