/** The upload handler `excel`: SQL for each row of a workbook. */
export { excelHandler } from './handler.ts';
export type { ExcelLimits, ExcelUploadOptions } from './options.ts';
