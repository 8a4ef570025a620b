// How lockpick is called where it is: commands that it prints must work when they are pasted.

/** In a checkout the script that installs what is missing first; in a project that has the package, the package. */
export const LOCKPICK = import.meta.url.endsWith('.ts') ? 'npm run -s lockpick --' : 'npx lockpick';

/** As one word of a shell: quoted if it has anything but letters, digits and the marks of names and paths. */
export function shellWord(text: string): string {
  return /^[\w./:=+@%,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
