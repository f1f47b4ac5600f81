import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';

/** The API as OpenAPI, for code that takes parts of it. It is made when first asked for. */
@Injectable()
export class ApiDocument {
  private document: OpenAPIObject | undefined;
  private build: (() => OpenAPIObject) | undefined;
  /** Makes what /openapi.json answers with, before anybody asks for it. */
  makeAhead: () => Promise<unknown> = () => Promise.resolve();

  buildWith(build: () => OpenAPIObject): void {
    this.build = build;
  }

  get(): OpenAPIObject {
    if (this.build === undefined) throw new Error('nothing builds the description');
    return (this.document ??= this.build());
  }
}
