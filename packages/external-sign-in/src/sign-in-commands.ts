import { Problem, type ProblemCode } from '@pgway/core';
import type { GatewayRequest, GatewayResponse, HeaderList } from '@pgway/core';
import {
  type CommandRow,
  type CommandRunner,
  type ControlColumnNames,
  controlColumnsOf,
  type LoginOptions,
  type LoginResult,
  loginStatus,
  refuseLogin,
  rowCommand,
  startSession,
} from '@pgway/core/internal';
import type { ExternalIdentity } from './identity.ts';
import type { LinkTarget } from './pending-sign-in.ts';

interface CommandTexts {
  readonly loginCommand: string;
  readonly linkCommand: string | null;
  readonly unlinkCommand: string | null;
}

/** A user of a provider with the request of the browser. */
export interface ProviderUser {
  readonly provider: string;
  readonly identity: ExternalIdentity;
  readonly request: GatewayRequest;
  readonly returnPath: string;
}

/** A command accepts; or it refuses, with the response for the client. */
export type CommandResult =
  | { readonly kind: 'accepted'; readonly headers: HeaderList; readonly body: string | null }
  | { readonly kind: 'refused'; readonly status: number; readonly response: GatewayResponse };

type Run = ReturnType<typeof rowCommand>;

/** The commands of the host, whose rows are read like the row of a login routine. */
export class SignInCommands {
  readonly canLink: boolean;
  readonly canUnlink: boolean;
  readonly #login: Run;
  readonly #link: Run | null;
  readonly #unlink: Run | null;
  readonly #names: ControlColumnNames;
  readonly #options: LoginOptions;

  constructor(texts: CommandTexts, query: CommandRunner, names: ControlColumnNames, options: LoginOptions) {
    this.#login = rowCommand(texts.loginCommand, query);
    this.#link = texts.linkCommand === null ? null : rowCommand(texts.linkCommand, query);
    this.#unlink = texts.unlinkCommand === null ? null : rowCommand(texts.unlinkCommand, query);
    this.canLink = this.#link !== null;
    this.canUnlink = this.#unlink !== null;
    this.#names = names;
    this.#options = options;
  }

  /** Signs the user in, in the way of a login routine. */
  async login(user: ProviderUser): Promise<CommandResult> {
    const row = await this.#login(userValues(user));
    const { request } = user;
    const refuse = (status: number, message: string | null): CommandResult => ({
      kind: 'refused',
      status,
      response: refuseLogin({ status, message }, request, this.#options),
    });
    if (row === null) return refuse(401, null);
    const result = this.#loginResult(row);
    const status = loginStatus(result);
    if (status !== 200) return refuse(status, result.message);
    const { headers, body } = await startSession(result, request, this.#options);
    return { kind: 'accepted', headers, body };
  }

  async link(user: ProviderUser, { userId }: LinkTarget): Promise<CommandResult> {
    const row = await this.#link!([...userValues(user), userId]);
    return this.#changeResult(row, user.request, { option: 'linkCommand', code: 'account-not-linkable' });
  }

  async unlink(provider: string, userId: string, request: GatewayRequest): Promise<CommandResult> {
    const row = await this.#unlink!([provider, userId]);
    return this.#changeResult(row, request, { option: 'unlinkCommand', code: 'account-not-linked' });
  }

  #loginResult(row: CommandRow): Omit<LoginResult, 'toJson'> {
    const { statusColumnName, messageColumnName, schemeColumnName } = this.#names;
    const status = row.values(statusColumnName);
    return {
      source: 'externalSignIn.loginCommand',
      status: status === undefined ? undefined : (status[0] ?? null),
      message: row.values(messageColumnName)?.[0] ?? null,
      scheme: row.values(schemeColumnName)?.[0] ?? null,
      claims: row.claims(controlColumnsOf(this.#names)),
    };
  }

  /**
   * Returns the result of a change of linked accounts. No row, and a status of false or NULL, are this problem.
   * @throws Problem without a message
   */
  #changeResult(row: CommandRow | null, request: GatewayRequest, { option, code }: ChangeCommand): CommandResult {
    const problem = new Problem(code);
    if (row === null) throw problem;
    const text = row.values(this.#names.statusColumnName);
    const isFalse = text !== undefined && (text[0] ?? 'false') === 'false';
    const source = `externalSignIn.${option}`;
    const status = isFalse ? problem.status : loginStatus({ status: text?.[0], source });
    if (status === 200) return { kind: 'accepted', headers: [], body: null };
    const message = row.values(this.#names.messageColumnName)?.[0] ?? null;
    if (message === null && isFalse) throw problem;
    return { kind: 'refused', status, response: refuseLogin({ status, message }, request, this.#options) };
  }
}

interface ChangeCommand {
  readonly option: 'linkCommand' | 'unlinkCommand';
  /** The problem of a refusal without a message. */
  readonly code: ProblemCode;
}

const maxHeaderLength = 512;

/** Returns the first five parameters of the login command and the link command. */
function userValues({ provider, identity, request, returnPath }: ProviderUser): readonly (string | null)[] {
  const header = (name: string): string | null => request.header(name)?.slice(0, maxHeaderLength) ?? null;
  const browser = {
    ip_address: request.remoteAddress ?? null,
    user_agent: header('user-agent'),
    accept_language: header('accept-language'),
    return_to: returnPath,
  };
  return [provider, identity.email, identity.name, identity.json, JSON.stringify(browser)];
}
