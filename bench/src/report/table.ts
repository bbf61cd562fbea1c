/** Returns a Markdown table with aligned columns. The first column is text, the others are numbers. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((_, column) => Math.max(3, ...[header, ...rows].map((row) => width(row[column]))));
  const line = (row: readonly string[]): string =>
    `| ${widths.map((size, column) => pad(row[column] ?? '', size, column === 0)).join(' | ')} |`;
  const rule = widths.map((size, column) => (column === 0 ? '-'.repeat(size) : `${'-'.repeat(size - 1)}:`));
  return [line(header), line(rule), ...rows.map(line)].join('\n');
}

function width(cell: string | undefined): number {
  return cell?.length ?? 0;
}

function pad(cell: string, size: number, left: boolean): string {
  return left ? cell.padEnd(size) : cell.padStart(size);
}

/** Returns `12,346` for 12345.6. Numbers below 100 keep decimals. */
export function formatNumber(value: number | null): string {
  if (value === null) return '-';
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function formatMebibytes(bytes: number | null): string {
  return bytes === null ? '-' : formatNumber(bytes / 2 ** 20);
}

export function formatRatio(value: number | null): string {
  return value === null ? '-' : `${value.toFixed(value < 10 ? 2 : 1)}×`;
}
