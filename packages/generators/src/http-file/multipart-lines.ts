import type { EndpointUpload } from '@pgway/core';

interface SampleFile {
  readonly name: string;
  readonly type: string;
  readonly content: readonly string[];
}

const text: SampleFile = { name: 'sample.txt', type: 'text/plain', content: ['sample'] };
const csv: SampleFile = { name: 'sample.csv', type: 'text/csv', content: ['first,second', '1,2'] };
/** REST clients read the file of a line with `<`, beside the request file. */
const image: SampleFile = { name: 'sample.png', type: 'image/png', content: ['< ./sample.png'] };
const workbook: SampleFile = {
  name: 'sample.xlsx',
  type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  content: ['< ./sample.xlsx'],
};

/** Returns the headers and the body of a form with one file. */
export function multipartLines(upload: EndpointUpload): readonly string[] {
  const { name, type, content } = sampleFile(upload);
  return [
    'Content-Type: multipart/form-data; boundary=part',
    '',
    '--part',
    `Content-Disposition: form-data; name="file"; filename="${name}"`,
    `Content-Type: ${type}`,
    '',
    ...content,
    '--part--',
  ];
}

function sampleFile({ handlers, options }: EndpointUpload): SampleFile {
  if (handlers.includes('csv')) return csv;
  if (handlers.includes('excel')) return workbook;
  const isImage = handlers.some((handler) => {
    const { check_image: check, included_mime_types: types } = options[handler] ?? {};
    return (check ?? 'false') !== 'false' || types?.startsWith('image/') === true;
  });
  return isImage ? image : text;
}
