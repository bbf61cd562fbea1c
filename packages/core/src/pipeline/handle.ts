import { cancelOnThrow } from '../http/cancel-on-throw.ts';
import type { Handle } from '../http/response.ts';
import { bind } from './bind/bind.ts';
import { recall } from './cache/recall.ts';
import { admit, open, refuseAnonymousCrossSite } from './caller/admit.ts';
import { withCallerHeaders } from './caller/caller-headers.ts';
import { collect } from './collect/collect.ts';
import { destinationOf, refuseLongUri } from './destination.ts';
import { failed } from './failed.ts';
import { fill } from './fill.ts';
import { formulate, formulateAnew, type Formulated } from './formulate.ts';
import { consult } from './hooks.ts';
import type { Pipeline } from './pipeline.ts';
import type { Caller } from './ports.ts';
import { respond } from './respond/respond.ts';
import { hashParameters } from './sign-in/hashing.ts';
import { sign } from './sign-in/sign.ts';
import { tellCommand } from './tell-command.ts';
import { withoutCall } from './without-call.ts';

/** The recipe of a request: match → admit → collect → bind → fill → formulate → recall → execute → respond. Every stage gives its product or throws. */
export function createHandle(pipeline: () => Pipeline): Handle {
  return async (request) => {
    // A refresh swaps the pipeline; a request stays with the one it began with.
    const current = pipeline();
    const routed = destinationOf(request, current);
    if (routed.kind !== 'match') return withoutCall(routed, request, current);
    let call: Formulated | null = null;
    let caller: Caller | null = null;
    try {
      refuseLongUri(request, current.maxUriLength);
      const { access } = current;
      let candidates = routed.targets;
      if (open(candidates, access)) refuseAnonymousCrossSite(candidates, request, access);
      else ({ candidates, caller } = await admit(candidates, request, access));
      const collected = collect(request, candidates[0]!.endpoint, current.maxBodySize);
      const given = collected instanceof Promise ? await collected : collected;
      const bound = bind(candidates, { given, path: routed.path, ignoreUnknown: current.ignoreUnknown });
      const filled = fill(bound, { request, caller }, current);
      const ready = filled.candidate.hashes ? await hashParameters(filled, request, current.signIn) : filled;
      const { make, endpoint } = ready.candidate;
      call = make === null ? formulate(ready) : await formulateAnew(ready, make, request);
      if (current.tellCommands) tellCommand(current.observe, call, request);
      const answer = current.hooks === null ? null : await consult(current.hooks, call, request);
      if (answer !== null) return withCallerHeaders(answer, caller);
      if (endpoint.signIn !== null) return await sign(current, call, { request, caller });
      const { format, head } = call.candidate.rendering(request.header('accept'));
      const headers = head(call);
      const outcome = await recall(current, { call, format, request, caller }, caller);
      return cancelOnThrow(outcome, () => withCallerHeaders(respond(request, { format, headers, outcome }), caller));
    } catch (error) {
      return withCallerHeaders(await failed(error, request, { call, targets: routed.targets }, current), caller);
    }
  };
}
