import { nearestName } from '../../validation/suggestion.ts';
import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { type Method, methods } from '../endpoint.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import type { Setting } from '../comment/setting.ts';

/** The method that an `HTTP` or `method` line sets. */
export const endpointMethod: Setting<Method> = { key: 'method' };

/** The whole path that an `HTTP` or `path` line sets, with its leading slash. */
export const endpointPath: Setting<string> = { key: 'path' };

/** Returns the method with this name, in any case, or null. */
function parseMethod(text: string): Method | null {
  const name = text.toUpperCase();
  return methods.find((method) => method === name) ?? null;
}

/** `HTTP authorize` sets a path, although its author expects it to guard access. */
const authorization = /^@?authori[sz]/i;

/** Warns of a second `HTTP` line in one tag scope. Another scope may have its own. */
function warnOfSecondHttp(parsed: ParsedAnnotation, builder: EndpointBuilder): void {
  const { number } = builder.scope;
  if (builder.httpScope === number) {
    const message = `${display(`${parsed.name} ${parsed.text}`.trim())} is the second HTTP line and overrides the first; keep one of them`;
    builder.report('warning', 'second-http', message, parsed.line);
  }
  builder.httpScope = number;
}

/** RFC 9110, 9.3.6: the target of CONNECT is a host and a port, never a path. */
function warnOfConnect(parsed: ParsedAnnotation, builder: EndpointBuilder): void {
  const message =
    'no request can call an endpoint with the method CONNECT, which opens tunnels through proxies; choose another method';
  builder.report('warning', 'uncallable-method', message, parsed.line);
}

/** Reads a first argument that is not a method as the path. */
function applyHttp(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  warnOfSecondHttp(parsed, builder);
  builder.hasHttpAnnotation = true;
  builder.trace?.addEffect(parsed.line, 'publishes the routine');
  const method = parseMethod(parsed.args[0] ?? '');
  if (method !== null) builder.set(parsed, endpointMethod, method);
  if (method === 'CONNECT') warnOfConnect(parsed, builder);
  const [path, ...leftover] = method === null ? parsed.args : parsed.args.slice(1);
  if (path === undefined) return null;
  setPath(parsed, builder, path);
  warnOfColon(parsed, builder, path);
  const error = checkPath(parsed, method, path, leftover);
  if (error === null) warnOfUpperCase(parsed, builder, path);
  return error;
}

/** Returns what to write instead. QUERY (RFC 10008) is another way to call an endpoint with GET. */
function methodHint(text: string, near: string | null): string {
  if (text.toUpperCase() === 'QUERY') return 'endpoints with GET that only read answer QUERY too; write GET';
  return near === null ? `the methods are ${methods.join(', ')}` : `did you mean ${near}?`;
}

/** Returns an error for a path that is probably a misspelt method or a guard, and for arguments after the path. */
function checkPath(
  parsed: ParsedAnnotation,
  method: Method | null,
  path: string,
  leftover: readonly string[],
): AnnotationError | null {
  const mayBeMethod = method === null && !path.startsWith('/');
  const near = mayBeMethod ? nearestName(path, methods) : null;
  const [next = ''] = leftover;
  // NpgsqlRest has the method QUERY in its HTTP line. As a path, the endpoint would be at `/QUERY`.
  if (mayBeMethod && (next.startsWith('/') || path.toUpperCase() === 'QUERY')) {
    const hint = methodHint(path, near);
    return {
      code: 'unknown-method',
      severity: 'error',
      message: `${display(path)} is not a method; ${hint}`,
      unusedArguments: leftover,
    };
  }
  if (leftover.length > 0) {
    const hint = near === null ? '' : `; did you mean ${near}?`;
    return {
      code: 'extra-arguments',
      message: `${parsed.name} takes a method and a path; it sets the path ${display(path)} and ignores ${display(leftover.join(' '))}${hint}`,
      unusedArguments: [path, ...leftover],
    };
  }
  if (authorization.test(path)) {
    return {
      code: 'unknown-method',
      severity: 'error',
      message: `${display(path)} would be the path and would not guard access; write authorize on its own line, or begin the path with /`,
    };
  }
  if (!mayBeMethod) return null;
  const hint = near === null ? 'begin the path with / to confirm' : `did you mean ${near}? Begin a path with /`;
  return { code: 'unknown-method', message: `${display(path)} is not a method and becomes the path; ${hint}` };
}

export const http: Annotation = {
  names: ['http'],
  syntax: ['HTTP', 'HTTP <method>', 'HTTP <method> <path>', 'HTTP <path>'],
  documentation:
    'Publishes the routine as an endpoint. The method also decides whether parameters come from the query string or the body. The path replaces the whole URL path, including the prefix. A segment may be a parameter: `/customers/{id}`, or `{id?}` for an optional one.',
  isGuard: false,
  apply: applyHttp,
};

function applyMethod(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const method = parseMethod(parsed.text);
  if (method === null) {
    return {
      code: 'bad-argument',
      message: `${display(parsed.text)} is not a method; the methods are ${methods.join(', ')}`,
    };
  }
  builder.set(parsed, endpointMethod, method);
  return null;
}

export const method: Annotation = {
  names: ['method'],
  syntax: ['method = <method>'],
  documentation:
    'Sets the method, which also decides whether parameters come from the query string or the body. It does not publish the routine; `HTTP` does.',
  isGuard: false,
  assignmentOnly: true,
  apply: applyMethod,
};

/** Sets the whole path, including the prefix. Adds a missing leading slash. */
function setPath(parsed: ParsedAnnotation, builder: EndpointBuilder, path: string): void {
  builder.set(parsed, endpointPath, path.startsWith('/') ? path : `/${path}`);
}

/** Express and Fastify write `/books/:id`. */
function warnOfColon(parsed: ParsedAnnotation, builder: EndpointBuilder, path: string): void {
  const [, name] = /\/:(\w+)/.exec(path) ?? [];
  if (name === undefined) return;
  const message = `":${name}" in the path ${display(path)} is literal text; write {${name}} for a parameter`;
  builder.report('warning', 'colon-in-path', message, parsed.line);
}

function warnOfUpperCase(parsed: ParsedAnnotation, builder: EndpointBuilder, path: string): void {
  if (!hasUpperCase(path)) return;
  const message = `the path ${display(path)} has upper-case letters, and requests must have them too; write it in lower case, unless clients use this spelling`;
  builder.report('warning', 'upper-case-path', message, parsed.line);
}

/** Names of parameters and percent-encoded bytes do not count. */
function hasUpperCase(path: string): boolean {
  return /[A-Z]/.test(path.replaceAll(/\{[^{}]*\}|%[0-9A-F]{2}/gi, ''));
}

function applyPath(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const [given, ...leftover] = parsed.args;
  if (given === undefined) return { code: 'bad-argument', message: `${parsed.name} needs a path` };
  setPath(parsed, builder, given);
  warnOfColon(parsed, builder, given);
  warnOfUpperCase(parsed, builder, given);
  if (leftover.length === 0) return null;
  return {
    code: 'extra-arguments',
    message: `${parsed.name} takes one path; it sets ${display(given)} and ignores ${display(leftover.join(' '))}`,
    unusedArguments: parsed.args,
  };
}

export const path: Annotation = {
  names: ['path'],
  syntax: ['path <path>', 'path = <path>'],
  documentation: 'Replaces the whole URL path of the endpoint, including the prefix.',
  isGuard: false,
  apply: applyPath,
};
