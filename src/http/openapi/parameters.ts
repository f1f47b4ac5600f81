import { DECORATORS } from '@nestjs/swagger';
import type { Class } from '../../tools/validation.js';

const parametersOf = (place: 'query' | 'header', type: Class<object>): object[] => {
  const prototype = type.prototype as object;
  const names = (Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES_ARRAY, prototype) ?? []) as string[];
  return names.map((marked) => {
    const name = marked.slice(1); // each is marked with a colon
    const described = Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES, prototype, name) as object;
    return { name, required: true, in: place, ...described };
  });
};

/** Puts them first, because the decorators of parameters run from the last parameter to the first. */
function ApiParameters(place: 'query' | 'header', type: Class<object>): MethodDecorator {
  return (_target, _name, { value: method }) => {
    const others = (Reflect.getMetadata(DECORATORS.API_PARAMETERS, method as object) ?? []) as object[];
    const parameters = [...parametersOf(place, type), ...others];
    Reflect.defineMetadata(DECORATORS.API_PARAMETERS, parameters, method as object);
  };
}

/** Describes the properties of a class as query parameters of a route. */
export const ApiOptions = (type: Class<object>): MethodDecorator => ApiParameters('query', type);

/** Describes the properties of a class as header fields of a route. */
export const ApiHeaderFields = (type: Class<object>): MethodDecorator => ApiParameters('header', type);
