import { nearestName } from '../../validation/suggestion.ts';
import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { type Method, methods } from '../endpoint.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

/** The verb that a text names, in any case; null when it names none. */
export function parseMethod(text: string): Method | null {
  const wanted = text.toUpperCase();
  return methods.find((method) => method === wanted) ?? null;
}

/** `HTTP authorize`: the author believes in a guard that is not there. */
const authorization = /^@?authori[sz]/i;

/** A line behind a `for` line may well say something else than the one before it. */
function warnOfSecond(use: ParsedAnnotation, draft: EndpointBuilder): void {
  const { number } = draft.scope;
  if (draft.httpScope === number) {
    const message = `${display(`${use.name} ${use.text}`.trim())} is the second HTTP line; what it says counts, keep one of them`;
    draft.report('warning', 'second-http', message, use.line);
  }
  draft.httpScope = number;
}

/** A first argument that is no verb is a path: `HTTP wrong-verb` moves the endpoint and leaves the method. */
function applyHttp(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  warnOfSecond(use, draft);
  draft.tagged = true;
  const verb = parseMethod(use.words[0] ?? '');
  if (verb !== null) draft.set(use, 'method', verb);
  const [path, ...leftover] = verb === null ? use.words : use.words.slice(1);
  if (path === undefined) return null;
  setPath(use, draft, path);
  return pathComplaint(use, verb, path, leftover);
}

/** What is doubtful about the path, or about what stands behind it. */
function pathComplaint(
  use: ParsedAnnotation,
  verb: Method | null,
  path: string,
  leftover: readonly string[],
): AnnotationError | null {
  const isWord = verb === null && !path.startsWith('/');
  const near = isWord ? nearestName(path, methods) : null;
  if (leftover.length > 0) {
    const hint = near === null ? '' : `; did you mean ${near}?`;
    return {
      code: 'extra-arguments',
      message: `${use.name} takes a verb and a path; the path is ${display(path)} now, and ${display(leftover.join(' '))} means nothing${hint}`,
      leftover: [path, ...leftover],
    };
  }
  if (authorization.test(path)) {
    return {
      code: 'unknown-verb',
      severity: 'error',
      message: `${display(path)} would be the path, and guard nothing; authorize needs a line of its own, and a path that is called so begins with /`,
    };
  }
  if (!isWord) return null;
  const hint = near === null ? 'begin a path with / to say so' : `did you mean ${near}? A path begins with /`;
  return { code: 'unknown-verb', message: `${display(path)} is no verb, so it is taken as the path; ${hint}` };
}

export const http: Annotation = {
  names: ['http'],
  syntax: ['HTTP', 'HTTP <verb>', 'HTTP <verb> <path>', 'HTTP <path>'],
  documentation:
    'Publishes the routine as an endpoint. A verb sets the method, and where parameters come from with it. A path replaces the whole URL, prefix included; its segments may be parameters: `/customers/{id}`, or `{id?}` for one that may be left out.',
  guards: false,
  supported: true,
  apply: applyHttp,
};

function applyMethod(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const verb = parseMethod(use.text);
  if (verb === null) {
    return {
      code: 'bad-argument',
      message: `${display(use.text)} is no method; the methods are ${methods.join(', ')}`,
    };
  }
  draft.set(use, 'method', verb);
  return null;
}

export const method: Annotation = {
  names: ['method'],
  syntax: ['method = <verb>'],
  documentation:
    'Sets the method, and where parameters come from with it. It does not publish the routine: `HTTP` does.',
  guards: false,
  supported: true,
  assignmentOnly: true,
  apply: applyMethod,
};

/** A given path replaces the whole URL including the prefix; a leading slash is added. */
export function setPath(use: ParsedAnnotation, draft: EndpointBuilder, path: string): void {
  draft.set(use, 'path', path.startsWith('/') ? path : `/${path}`);
}

function applyPath(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const [given, ...leftover] = use.words;
  if (given === undefined) return { code: 'bad-argument', message: `${use.name} needs a path` };
  setPath(use, draft, given);
  if (leftover.length === 0) return null;
  return {
    code: 'extra-arguments',
    message: `${use.name} takes one path; it is ${display(given)} now, and ${display(leftover.join(' '))} means nothing`,
    leftover: use.words,
  };
}

export const path: Annotation = {
  names: ['path'],
  syntax: ['path <path>', 'path = <path>'],
  documentation: 'Replaces the whole URL of the endpoint, prefix included.',
  guards: false,
  supported: true,
  apply: applyPath,
};
