import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageRelationships = 'http://schemas.openxmlformats.org/package/2006/relationships';

export type Parts = Readonly<Record<string, string | Uint8Array>>;

/** Returns a ZIP archive of these parts. */
export async function zip(parts: Parts): Promise<Uint8Array<ArrayBuffer>> {
  const archive = new ZipFile();
  for (const [name, content] of Object.entries(parts)) archive.addBuffer(Buffer.from(content as string), name);
  archive.end();
  return Uint8Array.from(await buffer(archive.outputStream));
}

/** The XML of a sheet with these rows: `<row><c><v>1</v></c></row>`. */
export function sheetXml(rows: string): string {
  return `<worksheet xmlns="${main}"><sheetData>${rows}</sheetData></worksheet>`;
}

/** The table of shared texts: `<si><t>Dune</t></si>`. */
export function sharedStringsXml(items: string): string {
  return `<sst xmlns="${main}">${items}</sst>`;
}

/** Number formats by their index in `s` of cells: 0 is General. */
const formats = [0, 14, 21, 22, 164];

export interface WorkbookParts {
  /** The rows of each sheet, by its name. */
  readonly sheets: Readonly<Record<string, string>>;
  /** The items of the table of shared texts. */
  readonly strings?: string;
  readonly date1904?: boolean;
}

/** Returns the parts of a workbook. Cells with s="1" have a date, with "2" a time, with "3" both, with "4" a date in French words. */
export function workbookParts({
  sheets,
  strings = '',
  date1904 = false,
}: WorkbookParts): Record<string, string | Uint8Array> {
  const names = Object.keys(sheets);
  const relationship = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="${relationships}/${type}" Target="${target}"/>`;
  const list = (items: string): string => `<Relationships xmlns="${packageRelationships}">${items}</Relationships>`;
  const entries = names.map((name, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`);
  const targets = names.map((_, index) =>
    relationship(`rId${index + 1}`, 'worksheet', `worksheets/sheet${index + 1}.xml`),
  );
  return {
    '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    '_rels/.rels': list(relationship('rId1', 'officeDocument', 'xl/workbook.xml')),
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${relationships}"><workbookPr${date1904 ? ' date1904="1"' : ''}/><sheets>${entries.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': list(
      `${targets.join('')}${relationship('s', 'styles', 'styles.xml')}${relationship('t', 'sharedStrings', '/xl/sharedStrings.xml')}`,
    ),
    'xl/styles.xml': `<styleSheet xmlns="${main}"><numFmts count="1"><numFmt numFmtId="164" formatCode="[$-40C]d\\ mmmm\\ yyyy;@"/></numFmts><cellXfs count="5">${formats.map((id) => `<xf numFmtId="${id}" fontId="0" applyNumberFormat="1"/>`).join('')}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': sharedStringsXml(strings),
    ...Object.fromEntries(names.map((name, index) => [`xl/worksheets/sheet${index + 1}.xml`, sheetXml(sheets[name]!)])),
  };
}

/** Returns a workbook of the rows of one sheet. */
export function workbook(rows: string, strings = ''): Promise<Uint8Array<ArrayBuffer>> {
  return zip(workbookParts({ sheets: { Books: rows }, strings }));
}
