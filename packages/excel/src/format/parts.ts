import { columnName } from './cell-writer.ts';
import { styles, styleSheet } from './styles.ts';
import { escapeText, escapeXml } from './xml-buffer.ts';

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const officeRelationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageRelationships = 'http://schemas.openxmlformats.org/package/2006/relationships';
const contentTypes = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Returns the parts of a workbook except the sheet, by their names (ECMA-376, part 1, 12). */
export function packageParts(sheet: string): readonly (readonly [name: string, content: Buffer])[] {
  const parts = {
    '[Content_Types].xml':
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>' +
      `<Override PartName="/xl/workbook.xml" ContentType="${contentTypes}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${contentTypes}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${contentTypes}.styles+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${packageRelationships}"><Relationship Id="rId1" Type="${officeRelationships}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${officeRelationships}"><sheets><sheet name="${escapeXml(sheet)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packageRelationships}"><Relationship Id="rId1" Type="${officeRelationships}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${officeRelationships}/styles" Target="styles.xml"/></Relationships>`,
    'xl/styles.xml': styleSheet,
  };
  return Object.entries(parts).map(([name, content]) => [name, Buffer.from(declaration + content)]);
}

/**
 * Returns the beginning of the sheet with the row of headings, which stays visible while the others scroll.
 * @param widths in characters
 */
export function sheetHead(headings: readonly string[], widths: readonly number[]): Buffer {
  const columns = widths.map(
    (width, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`,
  );
  const cells = headings.map(
    (heading, index) =>
      `<c r="${columnName(index)}1" s="${styles.heading}" t="inlineStr"><is><t xml:space="preserve">${escapeText(heading)}</t></is></c>`,
  );
  return Buffer.from(
    `${declaration}<worksheet xmlns="${main}"><sheetViews><sheetView tabSelected="1" workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft"/></sheetView></sheetViews>` +
      `<cols>${columns.join('')}</cols><sheetData><row r="1">${cells.join('')}</row>`,
  );
}

export const sheetTail = '</sheetData></worksheet>';
