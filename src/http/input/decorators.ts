import {
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  Param,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { ApiBody, ApiParam } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { validate as isUuid } from 'uuid';
import { Config } from '../../config/config.js';
import { DomainError } from '../../errors/domain-error.js';
import type { ProblemCode } from '../../errors/problem-codes.js';
import type { Class } from '../../tools/validation.js';
import { BodyReader } from '../body-reader.js';
import { ClientAddress } from '../client-address.js';
import { ApiJsonBody } from '../openapi/operations.js';
import { ApiHeaderFields, ApiOptions } from '../openapi/parameters.js';
import { exampleId } from '../openapi/responses.js';
import { bodyOptions, readBody } from './body.js';
import { modelIdOfPath } from './model-path.js';
import { assertNoOptions, headerFieldsOf, knownOptionsOf, optionsOf } from './option.js';
import { waitSeconds } from './prefer.js';

/* What handlers get of a call. Nest reads it after the guards, so nothing of a call is read that is not allowed. */

/** The call, for a pipe that makes a parameter of it. */
export const Call = createParamDecorator((_: unknown, context: ExecutionContext) => context);

/** A pipe after `Call`. `data`: the argument of the decorator. */
export abstract class CallPipe<Result> implements PipeTransform<ExecutionContext, Result> {
  transform(context: ExecutionContext, { data }: { data?: unknown }): Result {
    const http = context.switchToHttp();
    return this.of(http.getRequest(), data, http.getResponse(), context);
  }

  abstract of(request: Request, data: unknown, response: Response, context: ExecutionContext): Result;
}

const ofRequest = <Data>(make: (request: Request, data: Data) => unknown) =>
  createParamDecorator((data: Data, context: ExecutionContext) =>
    make(context.switchToHttp().getRequest(), data),
  );

/** The beginning of the URLs in an answer. */
export const BaseUrl = (): ParameterDecorator => Call(BaseUrlPipe);

@Injectable()
class BaseUrlPipe extends CallPipe<string> {
  constructor(private readonly addresses: ClientAddress) {
    super();
  }

  of(request: Request): string {
    return this.addresses.baseUrl(request);
  }
}

/** The model that the path names after `root`. undefined: the path has invalid percent-encoding. */
export const ModelId = ofRequest(({ originalUrl }: Request, root?: string) =>
  modelIdOfPath(originalUrl, root),
);

/** The seconds that `Prefer: wait` asks for, at most this many. */
export const WaitSeconds = ofRequest(({ headers }: Request, most: number) =>
  waitSeconds(headers.prefer, most),
);

/** Marks a handler that reads options itself. */
const takesOptions = Symbol('takesOptions');

/** The query, read by the rules of a class. Other options are refused. */
export function Options(type: Class<object>): ParameterDecorator {
  return (target, name, index) => {
    Reflect.defineMetadata(takesOptions, true, methodOf(target, name).value as object);
    ApiOptions(type)(target, name!, methodOf(target, name));
    ofRequest(({ query }: Request) => optionsOf(type, query))()(target, name, index);
  };
}

/** For a call that has no body and takes no options. */
export class NoOptions {}

/** The options of a class that the query has. Others are ignored, and an empty value is refused as any other. */
export function KnownOptions(type: Class<object>): ParameterDecorator {
  return (target, name, index) => {
    ApiOptions(type)(target, name!, methodOf(target, name));
    ofRequest(({ query }: Request) => knownOptionsOf(type, query))()(target, name, index);
  };
}

/** The header fields of a class. */
export function HeaderFields(type: Class<object>): ParameterDecorator {
  return (target, name, index) => {
    ApiHeaderFields(type)(target, name!, methodOf(target, name));
    ofRequest(({ headers }: Request) => headerFieldsOf(type, headers))()(target, name, index);
  };
}

/** A body that has been read and is not parsed yet. */
export interface UnparsedBody {
  bytes: Buffer;
  request: Request;
  response: Response;
}

interface JsonBodyOptions {
  /** A body that is left out counts as empty. */
  mayBeLeftOut?: boolean;
  beforeParsing?: Type<PipeTransform<UnparsedBody>>[];
}

/** The body, read by the rules of a class that has `BodySchema`. */
export function JsonBody(
  type: Class<object>,
  { mayBeLeftOut = false, beforeParsing = [] }: JsonBodyOptions = {},
  ...pipes: PipeTransform[]
): ParameterDecorator {
  return (target, name, index) => {
    const shown = Object.entries(bodyOptions(type).examples ?? {}).map(([key, value]) => [key, { value }]);
    const examples = Object.fromEntries(shown) as Record<string, { value: object }>;
    const body = { type, required: !mayBeLeftOut, ...(shown.length > 0 && { examples }) };
    ApiBody(body)(target, name!, methodOf(target, name));
    const read = bodyOptions(type).unknown === null ? 'json' : 'json and options';
    ApiJsonBody(read)(target, name!, methodOf(target, name));
    const parsing = {
      transform: ({ bytes }: UnparsedBody) =>
        mayBeLeftOut && bytes.length === 0 ? new type() : readBody(type, bytes),
    };
    Call(type, BodyPipe, ...beforeParsing, parsing, ...pipes)(target, name, index);
  };
}

@Injectable()
class BodyPipe extends CallPipe<Promise<UnparsedBody>> {
  constructor(private readonly bodies: BodyReader) {
    super();
  }

  async of(
    request: Request,
    type: Class<object>,
    response: Response,
    context: ExecutionContext,
  ): Promise<UnparsedBody> {
    const isStrict = bodyOptions(type).unknown !== null;
    if (isStrict && !Reflect.hasMetadata(takesOptions, context.getHandler())) assertNoOptions(request.query);
    return { bytes: await this.bodies.read(request, response), request, response };
  }
}

/** The bytes of the body, at most as many as this setting allows. */
export const Bytes = (setting: 'maxBodyBytes' | 'maxOutputBytes' = 'maxBodyBytes'): ParameterDecorator =>
  Call(setting, BytesPipe);

@Injectable()
class BytesPipe extends CallPipe<Promise<Buffer>> {
  constructor(
    private readonly bodies: BodyReader,
    private readonly config: Config,
  ) {
    super();
  }

  of(request: Request, setting: 'maxBodyBytes' | 'maxOutputBytes', response: Response): Promise<Buffer> {
    return this.bodies.read(request, response, this.config[setting]);
  }
}

const methodOf = (target: object, name: string | symbol | undefined): PropertyDescriptor =>
  Object.getOwnPropertyDescriptor(target, name!)!;

interface IdOptions {
  param?: string;
  code?: ProblemCode;
}

/** An id in the path, in lower case. What is no id cannot be found. */
export function Id(
  noun: string,
  { param = `${noun}_id`, code = 'unknown_id' }: IdOptions = {},
): ParameterDecorator {
  const transform = (text: string): string => {
    if (isUuid(text)) return text.toLowerCase();
    throw new DomainError(code, `There is no ${noun} ${text.slice(0, 64)}.`);
  };
  return (target, name, index) => {
    const schema = { type: 'string', format: 'uuid', example: exampleId } as const;
    ApiParam({ name: param, description: `The id of the ${noun}.`, schema })(
      target,
      name!,
      methodOf(target, name),
    );
    Param(param, { transform })(target, name, index);
  };
}
