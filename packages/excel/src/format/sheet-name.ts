/** Characters of the name of a sheet (UTF-16 code units). */
const maxLength = 31;
/** Characters that Excel refuses, and those that XML cannot contain. */
const refused = /[[\]:*?/\\\p{Cc}\ufffe\uffff]+/gu;

/** Returns a text as the name of a sheet that Excel accepts. */
export function sheetName(text: string): string {
  // The conversion replaces unpaired surrogates, also those of a cut.
  const wellFormed = Buffer.from(text.replaceAll(refused, '_').slice(0, maxLength)).toString();
  const name = wellFormed.replaceAll(/^['\s]+|['\s]+$/g, '');
  // Excel reserves the name.
  if (name.toLowerCase() === 'history') return `${name}_`;
  return name === '' ? 'Sheet1' : name;
}
