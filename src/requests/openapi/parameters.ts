import { applyDecorators } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';

export type RouteDecorator = ReturnType<typeof applyDecorators>;

export const keyNeeded: Record<string, string[]>[] = [{ key: [] }, { bearer: [] }];
/** Either no key or a valid one that owns the request. */
export const keyWelcome = [{}, ...keyNeeded];

export const ApiRequestId = (): RouteDecorator =>
  applyDecorators(
    ApiParam({
      name: 'requestId',
      description: 'The `request_id` that the submission was answered with.',
      schema: { type: 'string', example: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b' },
    }),
  );
