import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { DomainError } from '../errors/domain-error.js';
import { answerProblem } from './problem.js';

type ErrorForm = (error: DomainError, request: Request, response: Response) => void;

/** Writes errors as problem+json, or in the form of another API on its paths. */
@Injectable()
export class ErrorForms {
  private readonly forms = new Map<string, ErrorForm>();

  /** `root`: the first segment of the API's paths, in lower case, whether they are served or not. */
  register(root: string, form: ErrorForm): void {
    this.forms.set(root, form);
  }

  answer(error: DomainError, request: Request, response: Response): void {
    // Routes match in upper and lower case.
    const form = this.forms.get(request.path.split('/', 2)[1]?.toLowerCase() ?? '');
    if (form === undefined) answerProblem(error, request.originalUrl, response);
    else form(error, request, response);
  }
}
