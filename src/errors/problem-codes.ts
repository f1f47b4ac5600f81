/**
 * `now`: the same call now. `later`: the same call after `Retry-After`. `changed`: a changed call. `anew`: a new
 * submission, because this request has ended. `no`: none.
 */
export type Retry = 'now' | 'later' | 'changed' | 'anew' | 'no';

interface ProblemKind {
  status: number;
  title: string;
  /** Which call may succeed after this failure. */
  retry: Retry;
}

/**
 * Every stable error `code` that the API can return, for its description, its answers and /docs/errors. A new code
 * needs a line here and a line in `advice`.
 */
export const problemCodes = {
  bad_request: { status: 400, title: 'The request is malformed', retry: 'changed' },
  invalid_json: { status: 400, title: 'The body is not a JSON object', retry: 'changed' },
  invalid_query: { status: 400, title: 'A query parameter is not accepted', retry: 'changed' },
  invalid_upload: { status: 400, title: 'The upload is not what was announced', retry: 'changed' },
  not_completed: { status: 400, title: 'The request has not completed yet', retry: 'later' },
  already_completed: { status: 400, title: 'The request has already completed', retry: 'no' },
  missing_key: { status: 401, title: 'An API key is required', retry: 'changed' },
  invalid_key: { status: 401, title: 'The API key is not valid', retry: 'changed' },
  sign_in_refused: { status: 401, title: 'The sign-in was refused', retry: 'changed' },
  forbidden: { status: 403, title: 'The API key does not allow this', retry: 'no' },
  invalid_upload_url: { status: 403, title: 'The upload URL is not valid', retry: 'changed' },
  rate_limited: { status: 403, title: 'Rate limit exceeded', retry: 'later' },
  not_found: { status: 404, title: 'No such route', retry: 'changed' },
  unknown_model: { status: 404, title: 'No such model', retry: 'changed' },
  unknown_id: { status: 404, title: 'Nothing has this id', retry: 'no' },
  unknown_request: { status: 404, title: 'No such request', retry: 'no' },
  unknown_file: { status: 404, title: 'No such file', retry: 'no' },
  unknown_operation: { status: 404, title: 'No such operation', retry: 'no' },
  method_not_allowed: { status: 405, title: 'This route does not support this method', retry: 'changed' },
  conflict: { status: 409, title: 'The current state does not allow this', retry: 'changed' },
  claim_conflict: { status: 409, title: 'The claim id was used with another claim', retry: 'changed' },
  gone: { status: 410, title: 'The request was removed', retry: 'anew' },
  lease_lost: { status: 410, title: 'The lease is no longer yours', retry: 'no' },
  worker_stopped: { status: 410, title: 'The worker must stop', retry: 'no' },
  changed_meanwhile: { status: 412, title: 'It has changed in the meantime', retry: 'changed' },
  body_too_large: { status: 413, title: 'The body is too large', retry: 'changed' },
  too_large: { status: 413, title: 'The body contains too much', retry: 'changed' },
  unsupported_encoding: { status: 415, title: 'The content encoding is not supported', retry: 'changed' },
  range_not_satisfiable: { status: 416, title: 'The file has no such range', retry: 'changed' },
  invalid_input: { status: 422, title: "The input does not fit the model's schema", retry: 'changed' },
  invalid_models_file: { status: 422, title: 'The models file is invalid', retry: 'changed' },
  idempotency_key_reused: {
    status: 422,
    title: 'The idempotency key was used with another request',
    retry: 'changed',
  },
  invalid_idempotency_key: { status: 400, title: 'The idempotency key is malformed', retry: 'changed' },
  cancelled: { status: 499, title: 'The request was cancelled', retry: 'anew' },
  too_slow: { status: 408, title: 'The body arrives too slowly', retry: 'now' },
  caller_busy: { status: 429, title: 'The caller has reached its limit', retry: 'later' },
  queue_full: { status: 429, title: 'The queue is full', retry: 'later' },
  worker_resting: { status: 429, title: 'The worker has failed too often in a row', retry: 'later' },
  internal_error: { status: 500, title: 'Something went wrong on our side', retry: 'now' },
  model_error: { status: 502, title: 'The model failed', retry: 'changed' },
  model_unavailable: { status: 502, title: 'The model could not be reached', retry: 'anew' },
  node_lost: { status: 502, title: 'The nodes that ran the request were lost', retry: 'no' },
  worker_lost: { status: 502, title: 'The workers that ran the request were lost', retry: 'no' },
  unavailable: { status: 503, title: 'The service cannot take requests now', retry: 'later' },
  overloaded: { status: 503, title: 'The service has reached its limit', retry: 'later' },
  model_paused: { status: 503, title: 'The model is paused', retry: 'later' },
  timed_out: { status: 504, title: 'The model ran too long', retry: 'changed' },
  expired: { status: 504, title: 'The request waited too long', retry: 'anew' },
  storage_full: { status: 507, title: 'There is no room for the file', retry: 'later' },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof problemCodes;

/** What the caller should do next. */
export const advice: Readonly<Record<ProblemCode, string>> = {
  bad_request: 'Correct the call: the detail says what is wrong.',
  invalid_json: 'Send a JSON object as the body; the detail says what is wrong with this one.',
  invalid_query: 'Correct the parameter as the detail says.',
  invalid_upload: 'Send all announced bytes with the announced Content-Type.',
  not_completed:
    'Wait for Retry-After, or follow the status until it is COMPLETED, then send the call again.',
  already_completed: 'Nothing is left to cancel: fetch the response.',
  missing_key: 'Send the header "Authorization: Key <API key>".',
  invalid_key:
    'Check the key, or ask the operator for another: it is unknown, revoked, expired or without its scheme.',
  sign_in_refused: 'Sign in with a key, or with a new link.',
  forbidden: 'Ask the operator for a key that allows it.',
  invalid_upload_url: 'Initiate another upload: an upload URL is valid for an hour and for one upload.',
  rate_limited:
    'Wait for Retry-After, then send the call again. If it is refused again, back off exponentially.',
  not_found: 'Check the path against the API description.',
  unknown_model: 'Check the id of the model; the detail suggests the nearest one that the key may use.',
  unknown_id: 'Check the id: list the resources to find it.',
  unknown_request: 'Check the id, and send the key that submitted the request or no key.',
  unknown_file: 'Check the URL: a file is deleted with the last request that names it, or after a day.',
  unknown_operation: 'Check the id: list the operations to find it.',
  method_not_allowed: 'Use a method that the header Allow lists.',
  conflict: 'Do as the detail says.',
  claim_conflict: 'Use a new claim_id for each claim; an old one may only repeat the same claim.',
  gone: 'Retention or a deletion has removed the request. Submit it again if you still need it.',
  lease_lost: 'Stop the run and report nothing: another run has the request, or the request has ended.',
  worker_stopped: 'Stop the worker: an operator has asked it to stop.',
  changed_meanwhile: 'Read it again and repeat the change: If-Match names an old version.',
  body_too_large: 'Send a smaller body, or URLs in place of the data.',
  too_large: 'Send fewer values in one call, or URLs in place of the data.',
  unsupported_encoding:
    'Send the body without an encoding, or with one that the header Accept-Encoding lists.',
  range_not_satisfiable: 'Request a range within the size that the header Content-Range gives.',
  invalid_input: 'Correct the input at the places that "errors" lists.',
  invalid_models_file: 'Correct the lines that "errors" lists; until then the models are not changed.',
  idempotency_key_reused: 'Use a new Idempotency-Key for another body, model or call.',
  invalid_idempotency_key: 'Send 1 to 255 printable ASCII characters, or no Idempotency-Key.',
  cancelled: 'Submit it again if you still need it.',
  too_slow: 'Send the body faster than 16 KiB a second, or as a file in parts.',
  caller_busy:
    'Wait for Retry-After, then send the call again. Read open answers, close streams, and send fewer large bodies at once.',
  overloaded:
    'Wait for Retry-After, then send the call again. If it is refused again, back off exponentially.',
  queue_full: 'Wait for Retry-After, then send the call again, or cancel requests that you no longer need.',
  worker_resting: 'Wait for Retry-After, then claim again, and find out why the runs fail.',
  internal_error:
    'Try again a few times. If it still fails, give the operator the X-Request-Id of the answer.',
  model_error: 'Read the detail: the model may not accept this input. Correct it and submit again.',
  model_unavailable: 'All attempts are used up. Submit it again later; if it still fails, ask the operator.',
  node_lost: 'Report it to the operator: the request may crash nodes. Submit it again with care.',
  worker_lost: 'Report it to the operator: the request may crash workers. Submit it again with care.',
  model_paused:
    'Wait for Retry-After, then send the call again. It is accepted once the operator resumes the model.',
  unavailable:
    'Wait for Retry-After, then send the call again. With an Idempotency-Key nothing is queued twice.',
  timed_out: 'Submit an input that takes less time, or ask the operator for a longer timeout of the model.',
  expired: 'Submit it again when the queue is shorter.',
  storage_full:
    'Read the detail. If the key has too many files, erase requests that you no longer need, wait for retention, or ask the operator for more. If the disk is full, tell the operator. Then upload the file again.',
};
