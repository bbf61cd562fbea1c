import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { EndpointUploadOptions } from '../upload-option.ts';
import { normalizeName, parseBoolean } from '../comment/lexer.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import type { Setting } from '../comment/setting.ts';
import { findNearHandler, readUploadLine, readUploadValue, type UploadLine } from '../comment/upload-line.ts';

/** The names of the upload handlers. */
export const uploadHandlers: Setting<readonly string[]> = { key: 'upload' };

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const { uploads } = builder.options;
  if (builder.routine.table !== undefined)
    return { code: 'not-a-routine', message: `${parsed.name} applies to routines only; remove the line` };
  const isSwitch = parsed.form === 'assignment' ? parseBoolean(parsed.text) : null;
  if (isSwitch === false) {
    builder.set(parsed, uploadHandlers, null);
    return null;
  }
  const line = isSwitch === true ? plain : readLine(parsed, builder);
  if (line.kind !== 'upload') return reportMisspelt(parsed, line);
  return uploads === null ? reportDisabled(parsed) : setUpload(parsed, builder, { line, uploads });
}

const plain: UploadLine = { kind: 'upload', handlers: [], metadata: null };

function readLine(parsed: ParsedAnnotation, builder: EndpointBuilder): UploadLine {
  return parsed.form === 'assignment' ? readUploadValue(parsed.args) : readUploadLine(parsed.args, builder.context);
}

function reportMisspelt(parsed: ParsedAnnotation, line: UploadLine): AnnotationError {
  const hint = line.kind === 'misspelt' ? `did you mean ${display(line.correction)}? ` : '';
  return {
    code: 'bad-argument',
    message: `${parsed.name} ${display(parsed.text)} is not complete or misspelt; ${hint}Begin the line with another word if it is prose`,
  };
}

function reportDisabled({ name }: ParsedAnnotation): AnnotationError {
  return {
    code: 'uploads-disabled',
    message: `${name} needs an upload handler, but uploads are disabled; see uploadOptions.enabled, uploadOptions.uploadHandlers and uploadOptions.defaultUploadHandlerOptions`,
  };
}

/** A line without handlers keeps those of another line. */
function setUpload(
  parsed: ParsedAnnotation,
  builder: EndpointBuilder,
  { line, uploads }: { readonly line: UploadLine & { kind: 'upload' }; readonly uploads: EndpointUploadOptions },
): AnnotationError | null {
  const known = new Map(Object.keys(uploads.handlers).map((name) => [normalizeName(name), name]));
  const unknown = line.handlers.find((name) => !known.has(normalizeName(name)));
  if (unknown !== undefined) return reportUnknown(builder, unknown);
  const named = new Set(line.handlers.map((name) => known.get(normalizeName(name))!));
  const defaultHandler = known.get(normalizeName(uploads.defaultHandler));
  const others = builder.get(uploadHandlers) ?? (defaultHandler === undefined ? null : [defaultHandler]);
  const handlers = named.size > 0 ? [...named] : others;
  if (handlers === null) return reportNoDefault(parsed, uploads);
  builder.set(parsed, uploadHandlers, handlers);
  if (line.metadata !== null) {
    builder.uploadMetadata.push({ name: line.metadata, line: parsed.line });
    builder.logEffect(parsed, `sets ${display(line.metadata)} to the metadata of the files`);
  }
  return null;
}

/** The host has handlers of its own, none of which has the name of the default handler. */
function reportNoDefault(
  { name }: ParsedAnnotation,
  { defaultHandler, handlers }: EndpointUploadOptions,
): AnnotationError {
  return {
    code: 'unknown-handler',
    message: `${name} names no handler, and the default handler ${display(defaultHandler)} does not exist; write ${name} for ${Object.keys(handlers).join(' or ')}, or set uploadOptions.defaultUploadHandler`,
  };
}

function reportUnknown(builder: EndpointBuilder, unknown: string): AnnotationError {
  const near = findNearHandler(unknown, builder.context);
  const hint = near === null ? '' : `; did you mean ${display(near)}?`;
  const names = Object.keys(builder.options.uploads?.handlers ?? {});
  return {
    code: 'unknown-handler',
    message: `${display(unknown)} is not an upload handler; the handlers are ${names.join(', ')}${hint}`,
  };
}

export const upload: Annotation = {
  names: ['upload'],
  syntax: [
    'upload',
    'upload for <handler>, …',
    'upload <param> as metadata',
    'upload for <handler>, … <param> as metadata',
  ],
  documentation:
    'The endpoint takes files as `multipart/form-data`, with the method POST and parameters from the query string. Each handler stores each file: all files by the first handler, then all by the second one. Without `for`, the default handler. The parameter receives a JSON array with the metadata of the files, in place of the client.',
  isGuard: true,
  readsLikeSentence: true,
  matches: (args, context, form) => form === 'assignment' || readUploadLine(args, context).kind !== 'prose',
  suggest: (args, context) => suggest(readUploadLine(args, context)),
  apply,
};

function suggest(line: UploadLine): string | null {
  if (line.kind !== 'upload') return line.kind === 'misspelt' ? line.correction : null;
  const metadata = line.metadata === null ? [] : [line.metadata, 'as metadata'];
  return ['upload', ...(line.handlers.length === 0 ? [] : ['for', ...line.handlers]), ...metadata].join(' ');
}
