import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiExtension, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';

/** The other service, as the description of the API names it. */
export interface OtherService {
  /** The tag of its routes. */
  name: string;
  page: string;
}

const object = { type: 'object', additionalProperties: true } as const;

/** Describes a call of another service's API. What its bodies and answers have is documented by that service. */
export const ApiOtherCall = (
  service: OtherService,
  operationId: string,
  summary: string,
  description: string,
  ...decorators: MethodDecorator[]
): MethodDecorator =>
  applyDecorators(
    ApiTags(service.name),
    ApiOperation({ operationId, summary, description }),
    ApiExtension('x-other-api', service),
    ...decorators,
  );

/** A body of the other service. */
export const ApiOtherBody = (description: string, type = 'application/json'): MethodDecorator =>
  applyDecorators(ApiConsumes(type), ApiBody({ description, required: true, schema: object }));

export const ApiPathText = (name: string, description: string): MethodDecorator =>
  ApiParam({ name, description, schema: { type: 'string' } });
