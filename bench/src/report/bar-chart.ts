import { formatNumber } from './table.ts';

/** Bars in groups. Each group has a scale of its own. */
export interface BarChart {
  /** The name of the file, without extension. */
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly groups: readonly BarGroup[];
}

export interface BarGroup {
  readonly title: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** Own bars have another colour than those of other programs. */
  readonly isOwn: boolean;
}

const layout = {
  margin: 16,
  columnWidth: 420,
  columnGap: 24,
  labelWidth: 190,
  valueWidth: 64,
  barHeight: 14,
  rowHeight: 20,
  titleHeight: 40,
  groupTitleHeight: 26,
  groupGap: 16,
} as const;

const maxLabelLength = 28;

// Both colours have enough contrast on white and on black; text follows the colour scheme of the reader.
const style = `
  text { font: 12px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 15px; font-weight: 600; }
  .group { font-weight: 600; }
  .own { fill: #2f81f7; }
  .other { fill: #8b949e; }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3; } }
`;

/** Returns the chart as an SVG document: groups in two columns, horizontal bars with their values. */
export function drawBarChart(chart: BarChart): string {
  const columns = Math.min(2, Math.max(1, chart.groups.length));
  const { margin, columnWidth, columnGap, titleHeight } = layout;
  const width = 2 * margin + columns * columnWidth + (columns - 1) * columnGap;
  const parts: string[] = [];
  let top = margin + titleHeight;
  for (let index = 0; index < chart.groups.length; index += columns) {
    const row = chart.groups.slice(index, index + columns);
    row.forEach((group, column) => parts.push(drawGroup(group, margin + column * (columnWidth + columnGap), top)));
    top += Math.max(...row.map(groupHeight));
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top}" viewBox="0 0 ${width} ${top}" role="img" aria-label="${escapeXml(chart.title)}">
<style>${style}</style>
${drawText({ text: `${chart.title} (${chart.unit})`, x: margin, y: margin + 14, kind: 'title' })}
${parts.join('\n')}
</svg>
`;
}

function groupHeight({ bars }: BarGroup): number {
  return layout.groupTitleHeight + bars.length * layout.rowHeight + layout.groupGap;
}

function drawGroup({ title, bars }: BarGroup, left: number, top: number): string {
  const { columnWidth, labelWidth, valueWidth, barHeight, rowHeight, groupTitleHeight } = layout;
  const max = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  const space = columnWidth - labelWidth - valueWidth;
  const rows = bars.map(({ label, value, isOwn }, index) => {
    const y = top + groupTitleHeight + index * rowHeight;
    const length = Math.max(1, Math.round((value / max) * space));
    const bar = `<rect class="${isOwn ? 'own' : 'other'}" x="${left + labelWidth}" y="${y}" width="${length}" height="${barHeight}" rx="2"/>`;
    return [
      drawText({ text: shorten(label), x: left + labelWidth - 6, y: y + 11, anchor: 'end' }),
      bar,
      drawText({ text: formatNumber(value), x: left + labelWidth + length + 6, y: y + 11 }),
    ].join('');
  });
  return [drawText({ text: title, x: left, y: top + 14, kind: 'group' }), ...rows].join('\n');
}

/** Names of peers may be longer than their space. */
function shorten(label: string): string {
  return label.length <= maxLabelLength ? label : `${label.slice(0, maxLabelLength - 1)}…`;
}

interface Text {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly kind?: 'title' | 'group';
  readonly anchor?: 'end';
}

function drawText({ text, x, y, kind, anchor }: Text): string {
  const attributes = [kind === undefined ? '' : ` class="${kind}"`, anchor === undefined ? '' : ' text-anchor="end"'];
  return `<text${attributes.join('')} x="${x}" y="${y}">${escapeXml(text)}</text>`;
}

function escapeXml(text: string): string {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replaceAll(/[&<>"]/g, (char) => entities[char]!);
}
