import { WorkbookWriter } from '@cj-tech-master/excelts';

/** Writes a workbook with one sheet of ten columns: texts that differ, texts that repeat, numbers and dates. */
export async function writeWorkbook(path: string, rows: number): Promise<void> {
  const workbook = new WorkbookWriter({ filename: path, useSharedStrings: true, useStyles: true });
  const sheet = workbook.addWorksheet('Books');
  sheet.columns = Array.from({ length: 10 }, (_, index) => (index === 8 ? { style: { numFmt: 'yyyy-mm-dd' } } : {}));
  for (let row = 1; row <= rows; row++) sheet.addRow(cells(row)).commit();
  sheet.commit();
  await workbook.commit();
}

function cells(row: number): (string | number | Date | boolean)[] {
  return [
    row,
    String(9_780_000_000_000 + row),
    `Title of book ${row}`,
    `Author ${row % 1000}`,
    1900 + (row % 120),
    (row % 5000) / 100,
    `Shelf ${row % 100}`,
    row % 3 === 0,
    new Date(Date.UTC(2020, 0, 1 + (row % 2000))),
    'A note that all books have',
  ];
}
