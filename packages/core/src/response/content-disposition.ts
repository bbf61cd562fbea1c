import contentDisposition from 'content-disposition';

/** Characters. Longer names are cut before their extension. */
const maxNameLength = 150;
/** Characters that file systems or shells give a meaning, control characters, and those that reverse the shown text. */
const unsafe = /[<>:"/\\|?*\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/**
 * Returns the value of `Content-Disposition` (RFC 6266) for a file that browsers save.
 * @param name any text; characters that a file name must not have become `_`
 * @param extension added unless the name has it
 * @param otherwise the name when nothing is left
 */
export function attachmentHeader(name: string, extension: string, otherwise: string): string {
  const stem = (text: string): string =>
    // The conversion replaces unpaired surrogates.
    Buffer.from(text)
      .toString()
      .replaceAll(unsafe, '_')
      .replace(/^[\s.]+/, '')
      .replace(/[\s.]+$/, '');
  const withoutExtension = name.toLowerCase().endsWith(extension) ? name.slice(0, -extension.length) : name;
  const characters = Array.from(stem(withoutExtension) || stem(otherwise) || 'rows');
  return contentDisposition(`${characters.slice(0, maxNameLength).join('')}${extension}`);
}
