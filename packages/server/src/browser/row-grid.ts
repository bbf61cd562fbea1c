/** Rows as a table: sorted by a column, one row in detail, copied, or saved as CSV. */
import { copyText } from './copy-text.ts';
import { button, element } from './dom.ts';
import type { JsonCell, JsonRows } from './json-rows.ts';
import { visibleText } from './visible-text.ts';

type Row = JsonRows['rows'][number];

/** Rows that are shown. All of them are sorted, copied and saved. */
const shownRows = 500;
/** Characters of a cell. The detail of a row shows the whole value. */
const shownCharacters = 120;

export class RowGrid {
  readonly view: HTMLElement;
  readonly #columns: readonly string[];
  readonly #headings: readonly HTMLTableCellElement[];
  readonly #body = element('tbody');
  readonly #detail = element('div', { class: 'row-detail', role: 'group', 'aria-label': 'Row' });
  readonly #notice = element('p', { class: 'note', role: 'status' });
  #rows: readonly Row[];
  #sorted: { readonly column: number; readonly descending: boolean } | null = null;

  constructor({ columns, rows }: JsonRows, saveCsv: (csv: string) => HTMLElement) {
    this.#columns = columns;
    this.#rows = rows;
    this.#headings = columns.map((name, index) =>
      element(
        'th',
        { scope: 'col', 'aria-sort': 'none', class: isNumeric(rows, index) ? 'number' : null },
        button(visibleText(name), 'sort', () => this.#sort(index)),
      ),
    );
    const table = element('table', {}, element('thead', {}, element('tr', {}, ...this.#headings)), this.#body);
    const tools = element(
      'div',
      { class: 'actions' },
      button('Copy rows', 'secondary', () => void this.#copy()),
      saveCsv(csvOf({ columns, rows })),
      this.#notice,
    );
    const scroller = element('div', { class: 'grid', tabindex: 0, role: 'group', 'aria-label': 'Rows' }, table);
    this.view = element('div', {}, scroller, this.#detail, tools);
    this.#body.addEventListener('click', ({ target }) => this.#open((target as HTMLElement).closest('tr')));
    this.#body.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      this.#open((event.target as HTMLElement).closest('tr'));
    });
    this.#show();
  }

  #show(): void {
    const { length } = this.#rows;
    this.#detail.replaceChildren();
    this.#body.replaceChildren(...this.#rows.slice(0, shownRows).map((row) => this.#tableRow(row)));
    this.#notice.textContent =
      length > shownRows
        ? `The first ${shownRows} of ${length} rows are shown.`
        : `${length} ${length === 1 ? 'row' : 'rows'}`;
  }

  #tableRow(row: Row): HTMLTableRowElement {
    const cells = this.#columns.map((_, index) => cellView(row[index]));
    return element('tr', { tabindex: 0 }, ...cells);
  }

  /** The other direction for the same column; equal values keep their order. */
  #sort(column: number): void {
    const descending = this.#sorted?.column === column && !this.#sorted.descending;
    this.#sorted = { column, descending };
    const direction = descending ? -1 : 1;
    this.#rows = this.#rows.toSorted((left, right) => compareCells(left[column], right[column], direction));
    for (const [index, heading] of this.#headings.entries()) {
      heading.setAttribute('aria-sort', index === column ? (descending ? 'descending' : 'ascending') : 'none');
    }
    this.#show();
  }

  #open(shown: HTMLTableRowElement | null): void {
    const row = shown === null ? undefined : this.#rows[[...this.#body.rows].indexOf(shown)];
    if (row === undefined) return;
    const members = this.#columns.flatMap((name, index) => [
      element('dt', {}, visibleText(name)),
      element('dd', {}, visibleText(row[index]?.text ?? '')),
    ]);
    const close = button('Close', 'secondary', () => {
      this.#detail.replaceChildren();
      shown!.focus();
    });
    this.#detail.replaceChildren(element('dl', { class: 'facts' }, ...members), close);
    this.#detail.scrollIntoView({ block: 'nearest' });
  }

  async #copy(): Promise<void> {
    const lines = [this.#columns, ...this.#rows.map((row) => this.#columns.map((_, index) => textOf(row[index])))];
    // Spreadsheets take cells between tabs.
    const text = lines.map((line) => line.map((cell) => cell.replaceAll(/[\t\r\n]+/g, ' ')).join('\t')).join('\n');
    await copyText(text, this.#notice, 'save the CSV instead');
  }
}

/** Whether the values of a column are numbers, which its cells and its heading align. */
function isNumeric(rows: readonly Row[], column: number): boolean {
  const kinds = new Set(rows.map((row) => (textOf(row[column]) === '' ? null : row[column]!.kind)));
  kinds.delete(null);
  return kinds.size === 1 && kinds.has('number');
}

function cellView(cell: JsonCell | undefined): HTMLTableCellElement {
  if (cell === undefined) return element('td', { class: 'missing' });
  const text = cell.text.length > shownCharacters ? `${cell.text.slice(0, shownCharacters)}…` : cell.text;
  return element('td', { class: cell.kind }, visibleText(text));
}

/** NULL is an empty cell. */
function textOf(cell: JsonCell | undefined): string {
  return cell === undefined || (cell.kind === 'word' && cell.text === 'null') ? '' : cell.text;
}

/** Numbers by value, others by text; rows without a value are last in both directions. */
function compareCells(left: JsonCell | undefined, right: JsonCell | undefined, direction: 1 | -1): number {
  const [one, other] = [textOf(left), textOf(right)];
  if (one === '' || other === '') return Number(one === '') - Number(other === '');
  if (left!.kind === 'number' && right!.kind === 'number') return direction * (Number(one) - Number(other));
  return direction * one.localeCompare(other);
}

/** CSV of RFC 4180. */
export function csvOf({ columns, rows }: JsonRows): string {
  const lines = [columns, ...rows.map((row) => columns.map((_, index) => textOf(row[index])))];
  return lines.map((line) => `${line.map(csvField).join(',')}\r\n`).join('');
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
