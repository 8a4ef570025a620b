// Markup that cannot be injected into: `html` escapes every text put into it; only what `html` made itself goes in as
// it is. Everything in the report is built with it, so a process named `</script>` is only an ugly name. Pure.

/** A piece of finished markup; made by `html` (or `trusted`, for our own files). */
export interface Html {
  readonly markup: string;
}

type Content = string | number | Html | readonly Html[] | undefined;

/** Markup from a template; texts and numbers are escaped, `undefined` is nothing, lists are joined. */
export function html(parts: TemplateStringsArray, ...contents: readonly Content[]): Html {
  let markup = parts[0] ?? '';
  for (const [index, content] of contents.entries()) markup += textOf(content) + (parts[index + 1] ?? '');
  return { markup };
}

/** Takes `markup` as it is. Only for text that comes from our own files, never from a history. */
export function trusted(markup: string): Html {
  return { markup };
}

function textOf(content: Content): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return escapeText(content);
  if (typeof content === 'number') return String(content);
  return 'markup' in content ? content.markup : content.map(({ markup }) => markup).join('');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Safe between tags and inside quoted attributes. */
function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
