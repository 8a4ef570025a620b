// Tables in Markdown (GitHub's), and text of any origin as it may stand in them and elsewhere. Pure.

/** `aligned`: as prettier lays it out, for a page that people also edit. */
type Layout = 'compact' | 'aligned';

/** Its lines. The first row is the head; cells are Markdown, on one line, and may hold pipes. */
export function markdownTable(rows: readonly (readonly string[])[], layout: Layout = 'compact'): string[] {
  const [head = [], ...body] = rows.map((cells) => cells.map(cellText));
  const widths = head.map((_, column) =>
    layout === 'compact' ? 0 : Math.max(3, ...[head, ...body].map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(Math.max(width, 3)))), ...body.map(line)];
}

/** A pipe ends a cell, in code as well, unless an odd number of backslashes is before it. */
function cellText(markdown: string): string {
  return markdown
    .replace(/\s*[\r\n]+\s*/g, ' ')
    .replace(/(\\*)\|/g, (_, before: string) => `${before}${before.length % 2 === 0 ? '\\' : ''}|`);
}

/** Text as inline code, in a table or anywhere else. */
export function inlineCode(text: string): string {
  const line = text.replace(/\s*[\r\n]+\s*/g, ' ');
  // A backtick would end it, and a pipe a cell; no number of backslashes says both in every renderer.
  if (!/[`|]/.test(line)) return `\`${line}\``;
  return `<code>${line.replace(/[^A-Za-z0-9\s]/gu, (character) => `&#${character.codePointAt(0)};`)}</code>`;
}

/** Text as prose that says nothing but itself. */
export function plain(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|&~]/g, String.raw`\$&`).replace(/\s+/g, ' ');
}
