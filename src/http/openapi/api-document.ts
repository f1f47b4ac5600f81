import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';

/**
 * The path of the description without the models of this installation. Clients that are generated from it suit models
 * that appear later, too.
 */
export const stableDocumentPath = '/v1/openapi.json';

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
