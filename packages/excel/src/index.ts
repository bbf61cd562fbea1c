/** The upload handler `excel`, SQL for each row of a workbook, and the format of rows `excel`. */
export { excelFormat } from './format/format.ts';
export { excelHandler } from './handler.ts';
export type { ExcelLimits, ExcelUploadOptions } from './options.ts';
