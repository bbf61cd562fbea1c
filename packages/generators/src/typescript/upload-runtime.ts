import type { TypeScriptOnly } from './type-text.ts';

/** Returns the helpers that send files. `fetch` reports no progress: browsers have `XMLHttpRequest`, and in Node.js a stream is counted. */
export function sendFilesText(tsOnly: TypeScriptOnly): string {
  const parameters = `url${tsOnly(': string')}, init${tsOnly(': RequestInit')}`;
  const report = tsOnly(': (progress: IUploadProgress) => void');
  const response = tsOnly(': Promise<Response>');
  return `/** Sends a form with the files. */
async function _sendFiles(${parameters}, files${tsOnly(': Blob | readonly Blob[]')}, onProgress${tsOnly('?')}${report})${response} {
  const form = new FormData();
  for (const file of files instanceof Blob ? [files] : files) {
    form.append("file", file, file instanceof File ? file.name : "file");
  }
  if (onProgress === undefined) return fetch(url, { ...init, body: form });
  return typeof XMLHttpRequest === "undefined" ? _stream(url, init, form, onProgress) : _upload(url, init, form, onProgress);
}

/** Counts the bytes that \`fetch\` reads. */
async function _stream(${parameters}, form${tsOnly(': FormData')}, onProgress${report})${response} {
${streamLines(tsOnly)}
}

/** Browsers report the progress of an XMLHttpRequest only. */
function _upload(${parameters}, form${tsOnly(': FormData')}, onProgress${report})${response} {
${requestLines}
}

function _headersOf(request${tsOnly(': XMLHttpRequest')})${tsOnly(': Headers')} {
  const headers = new Headers();
  for (const line of request.getAllResponseHeaders().split("\\r\\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}`;
}

function streamLines(tsOnly: TypeScriptOnly): string {
  return `  const encoded = new Response(form);
  const headers = new Headers(init.headers);
  headers.set("Content-Type", encoded.headers.get("content-type") ?? "");
  const total = [...form.values()].reduce((sum, file) => sum + (file instanceof Blob ? file.size : 0), 0);
  let loaded = 0;
  const counter = new TransformStream${tsOnly('<Uint8Array, Uint8Array>')}({
    transform(chunk, controller) {
      controller.enqueue(chunk);
      // The form has other bytes too.
      loaded = Math.min(total, loaded + chunk.byteLength);
      onProgress({ loaded, total });
    },
  });
  const body = encoded.body${tsOnly('!')}.pipeThrough(counter);
  const streamed${tsOnly(': RequestInit & { duplex: "half" }')} = { ...init, headers, body, duplex: "half" };
  return fetch(url, streamed);`;
}

const requestLines = `  return new Promise((resolve, reject) => {
    const { signal } = init;
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    const fail = () => reject(signal?.aborted ? signal.reason : new TypeError("The upload failed"));
    if (signal?.aborted) return fail();
    request.open(init.method ?? "POST", url);
    new Headers(init.headers).forEach((value, name) => request.setRequestHeader(name, value));
    request.responseType = "blob";
    request.withCredentials = init.credentials === "include";
    request.upload.onprogress = ({ loaded, total }) => onProgress({ loaded, total });
    request.onload = () => {
      const { status, statusText } = request;
      const content = [204, 205, 304].includes(status) ? null : request.response;
      resolve(new Response(content, { status, statusText, headers: _headersOf(request) }));
    };
    request.onerror = request.onabort = fail;
    request.onloadend = () => signal?.removeEventListener("abort", abort);
    signal?.addEventListener("abort", abort);
    request.send(form);
  });`;
