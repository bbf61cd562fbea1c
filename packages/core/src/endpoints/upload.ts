import { normalizeName } from './comment/lexer.ts';
import { display } from './diagnostic.ts';
import { bodyParameterName } from './annotations/body-parameter-name.ts';
import { endpointMethod } from './annotations/http.ts';
import { loginOrLogout } from './annotations/login.ts';
import { paramType } from './annotations/request-param-type.ts';
import { uploadHandlers } from './annotations/upload.ts';
import type { SettingKey } from './comment/setting.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { EndpointParameter, EndpointUpload } from './endpoint.ts';
import { findParameter } from './parameters.ts';
import { parseUploadOption, type UploadOptionDefinition } from './upload-option.ts';
import { unknownParameter } from './unknown-parameter.ts';

/** Returns the handlers, options and metadata parameter that the comment sets, or null without uploads. */
export function resolveUpload(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
): EndpointUpload | null {
  const handlers = builder.get(uploadHandlers);
  if (handlers === null || builder.options.uploads === null) {
    for (const { line } of builder.uploadMetadata)
      builder.report(
        'error',
        'no-upload',
        'upload metadata needs the line "upload"; add it, or remove this line',
        line,
      );
    return null;
  }
  checkContradictions(builder);
  const metadata = resolveMetadataParameter(builder, parameters);
  const settings = handlers.map(
    (handler) => [handler, resolveOptions(builder, handler, { parameters, metadata })] as const,
  );
  return {
    handlers,
    options: Object.fromEntries(settings.map(([handler, { texts }]) => [handler, texts])),
    lines: Object.fromEntries(settings.map(([handler, { lines }]) => [handler, lines])),
    metadataParameter: metadata?.position ?? null,
  };
}

/** Reports annotations that read the body in another way than as a form. */
function checkContradictions(builder: EndpointBuilder): void {
  const contradicting: readonly (readonly [SettingKey, boolean, reason: string])[] = [
    [paramType, builder.get(paramType) === 'body', 'the body of an upload is a form'],
    [bodyParameterName, builder.isSet(bodyParameterName), 'the body of an upload is a form'],
    [loginOrLogout, builder.isSet(loginOrLogout), 'a login or logout takes no files'],
  ];
  for (const [setting, isSet, reason] of contradicting) {
    const use = builder.annotationFor(setting);
    if (isSet && use !== null)
      builder.report(
        'error',
        'contradiction',
        `${use.name} contradicts upload: ${reason}; keep one of the lines`,
        use.line,
      );
  }
  const use = builder.annotationFor(endpointMethod);
  const method = builder.get(endpointMethod);
  if (use !== null && method !== null && method !== 'POST') {
    const message = `an endpoint with upload is POST, so ${method} has no effect; write POST, or remove the method`;
    builder.report('warning', 'upload-method', message, use.line);
  }
}

/** Returns the parameter that the comment names, or the one with the name of the option. */
function resolveMetadataParameter(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
): EndpointParameter | null {
  const annotated = new Map<EndpointParameter, number>();
  for (const { name, line } of builder.uploadMetadata) {
    const parameter = findParameter(parameters, name);
    if (parameter !== null) annotated.set(parameter, line);
    else builder.report('error', 'unknown-parameter', unknownParameter(name, parameters), line);
  }
  const [first, second] = annotated;
  if (second !== undefined) {
    const message = `the metadata goes to both ${display(first![0].name)} and ${display(second[0].name)}; keep one of the lines`;
    builder.report('error', 'contradiction', message, second[1]);
  }
  const [parameter, line] = first ?? [findDefaultParameter(builder, parameters), null];
  if (parameter !== null) checkMetadataParameter(builder, parameters, { parameter, line });
  return parameter;
}

function findDefaultParameter(
  { options }: EndpointBuilder,
  parameters: readonly EndpointParameter[],
): EndpointParameter | null {
  const name = options.uploads?.metadataParameterName ?? null;
  if (name === null) return null;
  return findParameter(parameters, name) ?? findParameter(parameters, options.nameConverter(name));
}

const types: ReadonlySet<string | null> = new Set(['json', 'jsonb', 'text', 'varchar']);

/** Reports a parameter that cannot receive the metadata. A client must not be able to send it instead. */
function checkMetadataParameter(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
  { parameter, line }: { readonly parameter: EndpointParameter; readonly line: number | null },
): void {
  const { name, type, inPath, injectedValue, hashOf, position } = parameter;
  const isHashed = parameters.some((other) => other.hashOf === position);
  const reasons: readonly (readonly [boolean, string])[] = [
    [
      !types.has(type.builtin),
      `which is JSON, but is of type ${type.display}; change it to json, jsonb, text or varchar`,
    ],
    [inPath, 'so it cannot be a path parameter, which the client sets'],
    [injectedValue === 'query', 'and the value of a query; keep one of the two'],
    [injectedValue !== undefined, `and the caller's ${injectedValue}; keep one of the two`],
    [hashOf !== undefined || isHashed, 'so it cannot be part of a hash; keep one of the two'],
  ];
  const reason = reasons.find(([applies]) => applies)?.[1];
  if (reason === undefined) return;
  builder.report(
    'error',
    'metadata-parameter',
    `the parameter ${display(name)} receives the metadata of the files, ${reason}`,
    line,
  );
}

/** By the name of an option. */
interface HandlerSettings {
  readonly texts: Readonly<Record<string, string>>;
  readonly lines: Readonly<Record<string, number>>;
}

/** Returns the texts of the options of a handler, and their lines. A line with the name of the handler precedes one without it. */
function resolveOptions(builder: EndpointBuilder, handler: string, templates: TemplateParameters): HandlerSettings {
  const definitions = builder.options.uploads!.handlers[handler]!;
  const own = builder.uploadSettings.filter((setting) => setting.handler === handler);
  const inOrder = [...own.filter(({ isPrefixed }) => !isPrefixed), ...own.filter(({ isPrefixed }) => isPrefixed)];
  const texts: Record<string, string> = {};
  const lines: Record<string, number> = {};
  for (const { option, text, line } of inOrder) {
    texts[option] = text;
    lines[option] = line;
    const reason = findOptionFault(definitions[option]!, text, templates);
    if (reason !== null)
      builder.report(
        'error',
        'upload-option',
        `${normalizeName(option)} of the upload handler ${handler} ${reason}, not ${display(text)}`,
        line,
      );
  }
  return { texts, lines };
}

/** The parameters whose values templates can have: all but that of the metadata, which follows the upload. */
export interface TemplateParameters {
  readonly parameters: readonly EndpointParameter[];
  readonly metadata: EndpointParameter | null;
}

/** Returns what the option takes when the text is invalid, or null. The values of templates are checked for each request. */
export function findOptionFault(
  definition: UploadOptionDefinition,
  text: string,
  { parameters, metadata }: TemplateParameters,
): string | null {
  const used = definition.type === 'sql' ? [] : findTemplates(text, parameters);
  if (metadata !== null && used.includes(metadata)) return 'cannot contain the metadata of the files';
  if (used.length > 0) return null;
  try {
    parseUploadOption(definition, text);
    return null;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

/** Returns the parameters that the text contains as `{name}`. */
function findTemplates(text: string, parameters: readonly EndpointParameter[]): readonly EndpointParameter[] {
  return [...text.matchAll(/\{([^{}]*)\}/g)].flatMap(([, name]) => findParameter(parameters, name!) ?? []);
}
