import { option, optionGroup, type OptionGroup } from '../../validation/option.ts';
import { arrayOf, callback, nullable } from '../../validation/validators.ts';
import type { HookOptions } from './options.generated.ts';

export type { HookOptions } from './options.generated.ts';

const endpoint = { Endpoint: '../../endpoints/endpoint.ts' };
const hooks = { Hooks: '../../request/hooks.ts' };

export const hookOptions: OptionGroup<HookOptions> = optionGroup<HookOptions>(
  'HookOptions',
  'Functions of the host. Those of the start run at every refresh too, may be asynchronous, and fail it with an error.',
  {
    sourcesCreated: option(
      nullable(
        callback('(sources: EndpointSource[]) => void | Promise<void>', { EndpointSource: '../endpoint-source.ts' }),
      ),
      null,
      'May change the list of sources, which initially contains the functions and procedures of the database.',
    ),
    endpointCreated: option(
      nullable(
        callback(
          '(endpoint: Endpoint) => Endpoint | null | undefined | void | Promise<Endpoint | null | undefined | void>',
          endpoint,
        ),
      ),
      null,
      'Called for each endpoint. Null drops the endpoint, another endpoint replaces it, undefined keeps it.',
    ),
    endpointsCreated: option(
      nullable(callback('(endpoints: readonly Endpoint[]) => void | Promise<void>', endpoint)),
      null,
      'Called once with all endpoints.',
    ),
    endpointsExplained: option(
      nullable(
        callback('(explanations: readonly EndpointExplanation[]) => void | Promise<void>', {
          EndpointExplanation: '../../endpoints/explanation.ts',
        }),
      ),
      null,
      'Called at the end of each load with an explanation of every routine that the sources contain: how each line of its comment was read, where its values come from, why it is an endpoint or not. Explanations are made only when this is set.',
    ),
    endpointCreateHandlers: option(
      arrayOf(
        callback(
          '(endpoints: readonly Endpoint[]) => void | readonly Diagnostic[] | Promise<void | readonly Diagnostic[]>',
          { ...endpoint, Diagnostic: '../../endpoints/diagnostic.ts' },
        ),
      ),
      [],
      'Run one after the other after all endpoints are created, such as for code generation. Diagnostics that a handler returns become diagnostics of the gateway.',
    ),
    validateParameters: option(
      nullable(callback("Hooks['validateParameters']", hooks)),
      null,
      'Called before a call for each of its parameters, injected ones included. A returned response ends the request.',
    ),
    commandCallback: option(
      nullable(callback("Hooks['commandCallback']", hooks)),
      null,
      'Called before a call once its statement is built. A returned response ends the request.',
    ),
  },
);
