import type { OpenAPIObject } from '@nestjs/swagger';

/* The parts of a document, which @nestjs/swagger does not export by name. */
type Resolved<T> = Exclude<NonNullable<T>, { $ref: string }>;

export type PathItem = OpenAPIObject['paths'][string];
export type Operation = NonNullable<PathItem['get']>;
export type Responses = Operation['responses'];
export type ResponseEntry = Resolved<Responses[string]>;
export type Headers = NonNullable<ResponseEntry['headers']>;
export type Header = Resolved<Headers[string]>;
