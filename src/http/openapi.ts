export { buildOpenApi } from './openapi/build-openapi.js';
export { ApiLimited, ApiModelAnswers, ApiProblems, ApiSchemas } from './openapi/decorators.js';
