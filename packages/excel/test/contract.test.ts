import { excelHandler } from '@pgway/excel';
import { describeUploadHandler } from '../../core/test/contracts/upload-handler.ts';
import { workbook } from './workbooks.ts';

const cell = (address: string, text: string): string => `<c r="${address}" t="inlineStr"><is><t>${text}</t></is></c>`;

describeUploadHandler('excel', {
  make: () => excelHandler({ rowCommand: 'insert into line values ($1::int, $2)' }),
  sql: 'create table line (number int, fields text[]);',
  file: [
    'a.xlsx',
    await workbook(`<row r="1">${cell('A1', 'ada')}</row><row r="2">${cell('A2', 'bob')}</row>`),
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ],
  members: { middle: ['sheet'], last: ['lastResult'] },
  count: async ({ database }) => {
    const [row] = await database.query('select count(*)::int from line');
    return (row as { count: number }).count;
  },
});
