/** From openapi.json: npm run openapi. */

export interface paths {
    "/v1/queue/{model_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: {
                    /** @description A URL that is called when the request completes. */
                    webhook?: string;
                    /** @description `high`, `normal` (the default) or `low`: requests of a higher priority are claimed before all others of the model. */
                    priority?: "high" | "normal" | "low";
                    /** @description RFC 3339: the time at which the request joins the queue, at most 30 days ahead. Not together with `delay`. */
                    not_before?: string;
                    /** @description A duration from now until the request joins the queue, such as `30s`, `10m` or `2h`. */
                    delay?: string;
                    /** @description A duration. A request that waits for longer, over all attempts, ends as `expired`. It counts from the submission, or from the time at which a scheduled request is due, and is at most the model’s own value. */
                    expires?: string;
                    /** @description A duration: the longest time that a run may take. It is at most the model’s own value. */
                    timeout?: string;
                    /** @description `key:value`, each of 1 to 64 letters, digits, dots, underscores and hyphens. May be repeated up to 8 times. */
                    tag?: string[];
                };
                header?: never;
                path: {
                    /** @description 1 to 8 segments joined by `/` or `%2F`. Each is a letter or digit, then up to 63 letters, digits, dots, underscores or hyphens. The first is never `requests`, the last never `openapi.json`. */
                    model_id: string;
                };
                cookie?: never;
            };
            /** @description The input of the model: a JSON object that fits its schema. */
            requestBody: {
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                /** @description With `Prefer: wait=n`: the request has completed in the meantime. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CompletedSubmission"];
                    };
                };
                /** @description The request is in the queue. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["QueuedRequest"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The models. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminModelList"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/models/reload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The changes. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ModelsReload"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/models/{model_id}/probe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the model; its slashes may be encoded as `%2F`. */
                    model_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The model. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminModel"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/models/{model_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the model; its slashes may be encoded as `%2F`. */
                    model_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The model. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminModel"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the model; its slashes may be encoded as `%2F`. */
                    model_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ModelChange"];
                };
            };
            responses: {
                /** @description The changed model. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminModel"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/v1/admin/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description The number of entries on a page. A value above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the previous page. It includes the filters and the limit of that page. */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminWorkerPage"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/workers/{worker_uid}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the worker. */
                    worker_uid: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The order that the worker now has. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ToldWorker"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the worker. */
                    worker_uid: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The order that the worker now has. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ToldWorker"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/workers/{worker_uid}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the worker. */
                    worker_uid: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The order that the worker now has. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ToldWorker"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The stream. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": components["schemas"]["Overview"] | components["schemas"]["OverviewChanges"] | components["schemas"]["OverviewAlive"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query: {
                    /** @description The id of the model. */
                    model: string;
                    /** @description The number of entries on a page. A value above 500 counts as 500. */
                    limit?: number;
                    /** @description The `next_cursor` of the previous page. It includes the filters and the limit of that page. */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["QueueEntryPage"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/shares": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query: {
                    /** @description The id of the model. */
                    model: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The keys with requests that wait, run or ran. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ShareList"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description All nodes. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminNodeList"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/nodes/{node_id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the node. */
                    node_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The drained node. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DrainedNode"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the node. */
                    node_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The node. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DrainedNode"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The key that is signed in, and the ways to sign in. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SignIn"];
                };
            };
            responses: {
                /** @description The session has begun. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The session has ended. */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/session/oidc": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: never;
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/session/oidc/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: never;
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description The number of entries on a page. A value above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the previous page. It includes the filters and the limit of that page. */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminSessionPage"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the session. */
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The session has ended. */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description The number of entries on a page. A value above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the previous page. It includes the filters and the limit of that page. */
                    cursor?: string;
                    /** @description Only keys in this state. */
                    state?: "valid" | "revoked" | "expired";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminKeyPage"];
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewKey"];
                };
            };
            responses: {
                /** @description The new key. */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MadeKey"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the key. */
                    key_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The key. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminKey"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: {
                    /** @description `true` allows the change even if no other key has the scope `admin`. Then only the program `keys` can make one. */
                    allow_no_admin?: "0" | "1" | "false" | "true";
                };
                header?: never;
                path: {
                    /** @description The id of the key. */
                    key_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The key is revoked. */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch: {
            parameters: {
                query?: {
                    /** @description `true` allows the change even if no other key has the scope `admin`. Then only the program `keys` can make one. */
                    allow_no_admin?: "0" | "1" | "false" | "true";
                };
                header?: never;
                path: {
                    /** @description The id of the key. */
                    key_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["KeyChanges"];
                };
            };
            responses: {
                /** @description The changed key. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminKey"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/v1/admin/keys/{key_id}/webhook-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the key. */
                    key_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The webhook secrets. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookSecrets"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/keys/{key_id}/webhook-secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the key. */
                    key_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The secrets in use. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookSecrets"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description The number of entries on a page. A value above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the previous page. It includes the filters and the limit of that page. */
                    cursor?: string;
                    /** @description Only actions of this key: its id, or its name at the time of the action. */
                    actor?: string;
                    /** @description Only this action. */
                    action?: "model.pause" | "model.resume" | "model.concurrency" | "model.probe" | "models.reload" | "key.create" | "key.update" | "key.revoke" | "node.drain" | "node.undrain" | "worker.drain" | "worker.resume" | "worker.stop" | "request.cancel" | "request.retry" | "request.erase" | "request.delete" | "file.delete" | "payload.read" | "batch.cancel" | "operation.start" | "operation.stop" | "delivery.redeliver" | "secret.read" | "secret.rotate" | "endpoint.create" | "endpoint.update" | "endpoint.remove" | "endpoint.disable" | "endpoint.enable" | "session.begin" | "session.refuse" | "session.end" | "session.link" | "access.refuse" | "audit.export";
                    /** @description Only actions on this target: an id, or the method and path of a refused call. */
                    target?: string;
                    /** @description RFC 3339: only actions at this time or later. */
                    after?: string;
                    /** @description RFC 3339: only actions before this time. */
                    before?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page, or with `Accept: application/x-ndjson` all entries. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AuditPage"];
                        "application/x-ndjson": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Only requests of this model. */
                    model_id?: string;
                    /** @description Only requests in this state. */
                    status?: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED";
                    /** @description Only requests with this outcome. */
                    outcome?: "succeeded" | "failed" | "cancelled" | "expired";
                    /** @description Only requests with this tag, `key:value`. If given several times, only requests with all of the tags. */
                    tag?: string[];
                    /** @description RFC 3339: only requests submitted at this time or later. */
                    created_after?: string;
                    /** @description RFC 3339: only requests submitted before this time. */
                    created_before?: string;
                    /** @description The number of entries on a page. A value above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the previous page. It includes the filters and the limit of that page. */
                    cursor?: string;
                    /** @description Only requests of this key. */
                    key_id?: string;
                    /** @description Only requests that failed with this code. */
                    code?: string;
                    /** @description Only requests that run or ran on the node or worker of this name. */
                    node?: string;
                    /** @description Only requests whose id begins with this prefix. Without the scope `payloads` it must be a whole handle, `rh_…`. */
                    id_prefix?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AnyRequestPage"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/requests/{request_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id or the handle of a request. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The request. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AnyRequestDetails"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/requests/{request_id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id or the handle of a request. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The request. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AnyRequestDetails"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/requests/{request_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id or the handle of a request. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The events. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Life"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/requests/{request_id}/status/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description `1` or `true` adds the log to a status and to the events of a stream. A response is then wrapped in an object with its log and metrics. */
                    logs?: "0" | "1" | "false" | "true";
                };
                header?: never;
                path: {
                    /** @description The id or the handle of a request. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description One event per change. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": string;
                    };
                };
                /** @description The request has completed, and all events were sent. */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/requests/{request_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id or the handle of a request. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The request after the call. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AnyRequestDetails"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/requests/{request_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id or the handle of a request. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The new request. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AnyRequestDetails"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/requests/{request_id}/erase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id or the handle of a request. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The request is erased. */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/requests/{request_id}/output/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Like the header `Last-Event-ID`, for clients that cannot send it. The header takes precedence. */
                    starting_after?: string;
                };
                header?: never;
                path: {
                    /** @description The id or the handle of a request. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The events `output`, `reset` and `done`. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": string;
                    };
                };
                /** @description The request has completed, and all events were sent. */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/requests/{request_id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description The `next_cursor` of the previous page. It includes the filters and the limit of that page. */
                    cursor?: string;
                };
                header?: never;
                path: {
                    /** @description The id or the handle of a request. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AnyLogPage"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/requests/{request_id}/input": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id or the handle of a request. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The whole payload. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["JsonValue"];
                    };
                };
                /** @description The requested bytes. */
                206: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/requests/{request_id}/response": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id or the handle of a request. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The whole payload. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["JsonValue"];
                    };
                };
                /** @description The requested bytes. */
                206: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/requests/{request_id}/picture": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id or the handle of a request. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The picture. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "image/*": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description The number of entries on a page. A value above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the previous page. It includes the filters and the limit of that page. */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperationPage"];
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["StartOperation"];
                };
            };
            responses: {
                /** @description With `validate_only`: the requests that the operation would cover. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperationPreview"];
                    };
                };
                /** @description The operation has started. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Operation"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/operations/{operation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the operation. */
                    operation_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The operation. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Operation"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/operations/{operation_id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the operation. */
                    operation_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The operation. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Operation"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/batches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description The number of entries on a page. A value above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the previous page. It includes the filters and the limit of that page. */
                    cursor?: string;
                    /** @description Only batches with this status. */
                    status?: "validating" | "in_progress" | "finalizing" | "completed" | "failed" | "expired" | "cancelling" | "cancelled";
                    /** @description Only batches of this key. */
                    key_id?: string;
                    /** @description Only batches with this tag. */
                    tag?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminBatchPage"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/batches/{batch_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the batch. */
                    batch_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The batch. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminBatch"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/batches/{batch_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the batch. */
                    batch_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The batch, which is being cancelled. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminBatch"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/batches/{batch_id}/output": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the batch. */
                    batch_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The lines, each a JSON object. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/x-ndjson": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/batches/{batch_id}/errors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the batch. */
                    batch_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The lines, each a JSON object. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/x-ndjson": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description The number of entries on a page. A value above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the previous page. It includes the filters and the limit of that page. */
                    cursor?: string;
                    /** @description Only deliveries in this state. */
                    state?: "pending" | "delivered" | "failed" | "ended";
                    /** @description Only deliveries to this endpoint of a key. */
                    webhook_id?: string;
                    /** @description Only deliveries to this host, with its port if the URL has one. */
                    host?: string;
                    /** @description Only deliveries of the requests of this key. */
                    key_id?: string;
                    /** @description Only deliveries of this request: its id, or its handle. */
                    request_id?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AnyDeliveryPage"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/requests/{request_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id or the handle of a request. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The deliveries. There is only one page. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AnyDeliveryPage"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/deliveries/{delivery_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The `id` of the delivery in the list. */
                    delivery_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Reason"];
                };
            };
            responses: {
                /** @description The delivery, which is tried now. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AnyDelivery"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description The number of entries on a page. A value above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the previous page. It includes the filters and the limit of that page. */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReceiverPage"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The `id` of the endpoint in the list. */
                    webhook_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ChangeEndpoint"];
                };
            };
            responses: {
                /** @description The changed endpoint. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Receiver"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/v1/models/{model_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The id of the model; its slashes may be encoded as `%2F`. */
                    model_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The model. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Model"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The worker that claims. */
        Worker: {
            /**
             * @description The id that the worker gives itself. It is unique within its key, and always the same for one worker.
             * @example gpu-1
             */
            id: string;
            /**
             * @description The name of the worker, for people; its id if omitted.
             * @example gpu-1
             */
            name?: string;
            /**
             * @description The version of its program.
             * @example 1.4.0
             */
            version?: string;
            /**
             * @description Other facts about the worker, for people: at most 32 texts of 200 characters.
             * @example {
             *       "gpu": "A100"
             *     }
             */
            labels?: {
                [key: string]: string;
            };
        };
        /** @description A model that the worker runs. */
        ClaimedModel: {
            /**
             * @description The id of the model. Its runner has the kind `worker`.
             * @example me/image/upscale
             */
            model_id: string;
            /**
             * @description The maximum number of its runs in this answer. If omitted, only the `max` of the claim applies.
             * @example 1
             */
            max?: number;
        };
        /** @description A claim of runs. */
        Claim: {
            /**
             * @description A new id for each claim. A repeated claim with the same id gets the same runs.
             * @example c-7f3a
             */
            claim_id: string;
            /** @description The worker that claims. */
            worker: components["schemas"]["Worker"];
            /** @description The models that the worker runs, at least one. */
            models: components["schemas"]["ClaimedModel"][];
            /**
             * @description The maximum number of runs in this answer; 1 if omitted.
             * @example 1
             */
            max?: number;
        };
        /** @description A run that a worker has claimed. */
        WorkerRun: {
            /**
             * Format: uuid
             * @description The request of the run.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id: string;
            /**
             * @description The attempt of the request, counted from 1.
             * @example 1
             */
            attempt: number;
            /**
             * @description The model.
             * @example me/image/upscale
             */
            model_id: string;
            /**
             * @description The token that every call about the run sends in the header `Lease-Token`.
             * @example AZqhsnw9fk-KW2x9jp8KG8D4mZ5k8kYJjW0yqC2nT5E
             */
            lease_token: string;
            /**
             * @description The number of seconds after which the run goes to another worker, unless a beat or a call for the run comes first.
             * @example 10
             */
            lease_s: number;
            /**
             * Format: date-time
             * @description The time at which the run ends in any case.
             * @example 2026-03-01T12:10:00.000Z
             */
            deadline_at: string;
            /**
             * @description The number of milliseconds from this answer to `deadline_at`. Count them with a clock that is never set, because the clock of a machine may be wrong.
             * @example 600000
             */
            remaining_ms: number;
            /**
             * @description The input of the request; absent if there is an `input_url`.
             * @example {
             *       "prompt": "a spiral"
             *     }
             */
            input?: {
                [key: string]: unknown;
            };
            /**
             * @description The URL of an input that is too large for this answer. Fetch it with the `Lease-Token`.
             * @example http://127.0.0.1:3000/v1/worker/runs/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/input
             */
            input_url?: string;
            /**
             * @description The name of the key that submitted the request; null: the key was deleted.
             * @example web shop
             */
            key_name: string | null;
            /**
             * @description The tags of the request, as `key:value`.
             * @example [
             *       "team:search"
             *     ]
             */
            tags: string[];
            /**
             * @description The priority of the request.
             * @example normal
             * @enum {string}
             */
            priority: "high" | "normal" | "low";
            /**
             * @description The trace that the run belongs to, as in W3C Trace Context.
             * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
             */
            traceparent?: string;
            /**
             * @description The `tracestate` of the trace.
             * @example vendor=1
             */
            tracestate?: string;
        };
        /** @description The result of a claim. */
        ClaimedRuns: {
            /** @description The runs, in the order of the queue. */
            runs: components["schemas"]["WorkerRun"][];
        };
        /** @description A sign of life of a worker, with its runs. */
        Beat: {
            /**
             * @description The `id` of the worker.
             * @example gpu-1
             */
            worker_id: string;
            /**
             * @description The state of the worker, for people. A worker that says `drain` or `stuck` claims nothing, so it does not count as a worker of its models until its next claim.
             * @example ready
             */
            state?: string;
            /**
             * @description The lease tokens of its runs, at most 1,000.
             * @example [
             *       "AZqhsnw9fk-KW2x9jp8KG8D4mZ5k8kYJjW0yqC2nT5E"
             *     ]
             */
            leases: string[];
        };
        /** @description The answer to a beat. */
        BeatAnswer: {
            /**
             * @description The number of seconds that a lease lasts from a beat on.
             * @example 30
             */
            lease_s: number;
            /**
             * @description The number of seconds until the next beat is expected.
             * @example 10
             */
            beat_s: number;
            /**
             * @description The order of an operator. `run`: continue. `drain`: claim nothing more. `stop`: end.
             * @example run
             * @enum {string}
             */
            worker: "run" | "drain" | "stop";
            /**
             * @description The requests whose runs must stop.
             * @example [
             *       "019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b"
             *     ]
             */
            cancel: string[];
            /**
             * @description The requests whose leases the worker no longer has. Its calls for them are refused.
             * @example []
             */
            lost: string[];
        };
        /** @description What a process of a worker that leaves gives back. */
        WorkerLeave: {
            /**
             * @description The lease tokens of the runs that go back, at most 1,000. Runs of another process with the same worker id stay as they are. If omitted, all runs of the worker go back.
             * @example [
             *       "AZqhsnw9fk-KW2x9jp8KG8D4mZ5k8kYJjW0yqC2nT5E"
             *     ]
             */
            leases?: string[];
        };
        /** @description The number of events that are written. */
        EventsTaken: {
            /**
             * @description The number of the next event.
             * @example 3
             */
            next: number;
            /**
             * @description True if the run must stop.
             * @example false
             */
            cancel: boolean;
        };
        /** @description The failure of a run. */
        WorkerFailure: {
            /**
             * @description The message that is shown to the caller.
             * @example out of memory
             */
            message?: string;
            /**
             * @description True if another attempt may succeed; false if omitted.
             * @example true
             */
            retryable?: boolean;
            /**
             * @description The minimum number of seconds until the next attempt.
             * @example 5
             */
            retry_after_s?: number;
            /**
             * @description The status that the caller gets in place of 502, if the input is refused for good.
             * @example 422
             */
            status?: number;
            /**
             * @description Details of the failure, as any JSON value of at most 64 KiB.
             * @example {
             *       "reason": "the prompt is empty"
             *     }
             */
            details?: components["schemas"]["JsonValue"];
            /**
             * @description The words of the program that the worker ran, such as the last line of its standard error. Operators see them; callers do not, because they may hold anything.
             * @example CUDA error: out of memory
             */
            model_message?: string;
        };
        /** @description The file to upload. */
        NewUpload: {
            /**
             * @description The media type of the file. The upload must have the same one.
             * @example image/png
             */
            content_type: string;
            /**
             * @description The name of the file. Only the part after the last slash counts, at most 200 characters; `file` if omitted.
             * @example cat.png
             */
            file_name?: string;
        };
        /** @description The URL for the upload, and the URL of the file. */
        InitiatedUpload: {
            /**
             * Format: uri
             * @description The URL of the file, to use in an input as a string.
             * @example http://127.0.0.1:3000/v1/files/5b1c6f2e-8f0d-4d39-9d5e-0c4a7b1e2f63/cat.png
             */
            file_url: string;
            /**
             * Format: uri
             * @description The URL to PUT the bytes to, within an hour. It needs no key.
             * @example http://127.0.0.1:3000/v1/storage/uploads/5b1c6f2e-8f0d-4d39-9d5e-0c4a7b1e2f63?expires=1767268800&type=image%2Fpng&signature=m3Qx
             */
            upload_url: string;
        };
        /** @description How a run is given back. */
        WorkerRelease: {
            /**
             * @description The minimum number of seconds until the request starts again; 0 if omitted.
             * @example 5
             */
            retry_after_s?: number;
        };
        /** @description A line of the input of a batch. */
        BatchLine: {
            /**
             * @description What the caller calls the line, 1 to 512 characters. No two lines of a batch have the same.
             * @example page-1
             */
            custom_id: string;
            /**
             * @description The model of the request. The model of the batch if omitted.
             * @example demo/text/echo
             */
            model_id?: string;
            /**
             * @description The input of the model: a JSON object that fits its schema.
             * @example {
             *       "prompt": "a spiral of light"
             *     }
             */
            input: {
                [key: string]: unknown;
            };
        };
        /** @description The lines of a batch, by what has become of them. Their sum is the total. */
        BatchLineCounts: {
            /**
             * @description The number of lines; null: the input has not been read to its end.
             * @example 50000
             */
            total: number | null;
            /**
             * @description Lines that wait, in the queue or in the input.
             * @example 47900
             */
            waiting: number;
            /**
             * @description Lines whose requests run.
             * @example 8
             */
            running: number;
            /**
             * @description Lines with an output.
             * @example 2050
             */
            completed: number;
            /**
             * @description Lines that failed.
             * @example 42
             */
            failed: number;
            /**
             * @description Lines that were cancelled.
             * @example 0
             */
            cancelled: number;
            /**
             * @description Lines that were not done in time.
             * @example 0
             */
            expired: number;
        };
        /** @description A line that keeps its batch from starting. */
        BatchFault: {
            /**
             * @description The number of the line in the input, from 1 on; null: the whole input is at fault.
             * @example 3
             */
            line: number | null;
            /**
             * @description The stable name of the kind of problem: a code of problems, or `duplicate_custom_id`.
             * @example bad_request
             */
            code: string;
            /**
             * @description A description of the problem.
             * @example A line needs a "custom_id", a text.
             */
            message: string;
        };
        /** @description The body of `batch.completed`: the batch that has ended. */
        BatchCompletedEvent: {
            /**
             * Format: uuid
             * @description The id of the batch. Its requests have the tag `batch:<batch_id>`.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            batch_id: string;
            /**
             * @description `validating`: its input is checked. `in_progress`: its lines run. `finalizing`: the last lines are written to its files. `completed`: all lines are done, whether they failed or not. `failed`: its input is not valid, and nothing was submitted. `expired`: its time was over. `cancelling`, then `cancelled`: a call has cancelled it.
             * @example in_progress
             * @enum {string}
             */
            status: "validating" | "in_progress" | "finalizing" | "completed" | "failed" | "expired" | "cancelling" | "cancelled";
            /**
             * @description The model of lines that name none.
             * @example demo/text/echo
             */
            model_id: string | null;
            /**
             * @description Its tag.
             * @example null
             */
            tag: string | null;
            /**
             * @description The priority of its requests.
             * @example low
             * @enum {string}
             */
            priority: "high" | "normal" | "low";
            /**
             * Format: date-time
             * @description The time at which it was made.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time at which its input was found to be valid.
             * @example 2026-03-01T12:00:00.000Z
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description The time at which it ended.
             * @example null
             */
            ended_at: string | null;
            /**
             * Format: date-time
             * @description The time at which lines that are not done expire.
             * @example 2026-03-02T12:00:00.000Z
             */
            expires_at: string;
            /** @description Its lines, by what has become of them. */
            counts: components["schemas"]["BatchLineCounts"];
            /** @description Why it failed: at most the first hundred faults. */
            errors: components["schemas"]["BatchFault"][];
            /**
             * @description The URL that is called when it has ended.
             * @example null
             */
            webhook: string | null;
            /**
             * Format: uri
             * @description The URL of the batch.
             * @example http://127.0.0.1:3000/v1/batches/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            batch_url: string;
            /**
             * Format: uri
             * @description The URL that cancels it.
             * @example http://127.0.0.1:3000/v1/batches/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel
             */
            cancel_url: string;
            /**
             * Format: uri
             * @description The URL of its output.
             * @example http://127.0.0.1:3000/v1/batches/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/output
             */
            output_url: string;
            /**
             * Format: uri
             * @description The URL of its errors.
             * @example http://127.0.0.1:3000/v1/batches/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/errors
             */
            errors_url: string;
            /**
             * @description The type of the event.
             * @example batch.completed
             * @enum {string}
             */
            type: "batch.completed";
            /**
             * Format: date-time
             * @description The time at which the batch ended, in UTC with milliseconds.
             * @example 2026-03-01T12:00:00.000Z
             */
            timestamp: string;
        };
        /** @description The lines of a batch, by the URL of a file with them or as a list, and its options. */
        NewBatch: {
            /**
             * @description The id of the model of lines that name none.
             * @example demo/text/echo
             */
            model_id?: string;
            /**
             * @description The URL of a file of the key, with one JSON object per line. It is kept until the batch has ended.
             * @example http://127.0.0.1:3000/v1/files/5b1c6f2e-8f0d-4d39-9d5e-0c4a7b1e2f63/lines.jsonl
             */
            input_file?: string;
            /** @description The lines themselves, up to 1,000. */
            requests?: components["schemas"]["BatchLine"][];
            /**
             * @description A tag `key:value`. The requests of the batch have it, too, besides `batch:<batch_id>`.
             * @example book:7
             */
            tag?: string;
            /** @description A URL that is called when the batch has ended. */
            webhook?: string;
            /**
             * @description The priority of its requests: `low` (the default), `normal` or `high`.
             * @example low
             * @enum {string}
             */
            priority?: "high" | "normal" | "low";
            /**
             * @description A duration of at most `7d`; `24h` if omitted. Lines that are not done by then are written to the error file with the code `batch_expired`.
             * @example 24h
             */
            completion_window?: string;
        };
        /** @description A batch at one moment. Its counts are exact. */
        BatchStatus: {
            /**
             * Format: uuid
             * @description The id of the batch. Its requests have the tag `batch:<batch_id>`.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            batch_id: string;
            /**
             * @description `validating`: its input is checked. `in_progress`: its lines run. `finalizing`: the last lines are written to its files. `completed`: all lines are done, whether they failed or not. `failed`: its input is not valid, and nothing was submitted. `expired`: its time was over. `cancelling`, then `cancelled`: a call has cancelled it.
             * @example in_progress
             * @enum {string}
             */
            status: "validating" | "in_progress" | "finalizing" | "completed" | "failed" | "expired" | "cancelling" | "cancelled";
            /**
             * @description The model of lines that name none.
             * @example demo/text/echo
             */
            model_id: string | null;
            /**
             * @description Its tag.
             * @example null
             */
            tag: string | null;
            /**
             * @description The priority of its requests.
             * @example low
             * @enum {string}
             */
            priority: "high" | "normal" | "low";
            /**
             * Format: date-time
             * @description The time at which it was made.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time at which its input was found to be valid.
             * @example 2026-03-01T12:00:00.000Z
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description The time at which it ended.
             * @example null
             */
            ended_at: string | null;
            /**
             * Format: date-time
             * @description The time at which lines that are not done expire.
             * @example 2026-03-02T12:00:00.000Z
             */
            expires_at: string;
            /** @description Its lines, by what has become of them. */
            counts: components["schemas"]["BatchLineCounts"];
            /** @description Why it failed: at most the first hundred faults. */
            errors: components["schemas"]["BatchFault"][];
            /**
             * @description The URL that is called when it has ended.
             * @example null
             */
            webhook: string | null;
            /**
             * Format: uri
             * @description The URL of the batch.
             * @example http://127.0.0.1:3000/v1/batches/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            batch_url: string;
            /**
             * Format: uri
             * @description The URL that cancels it.
             * @example http://127.0.0.1:3000/v1/batches/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel
             */
            cancel_url: string;
            /**
             * Format: uri
             * @description The URL of its output.
             * @example http://127.0.0.1:3000/v1/batches/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/output
             */
            output_url: string;
            /**
             * Format: uri
             * @description The URL of its errors.
             * @example http://127.0.0.1:3000/v1/batches/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/errors
             */
            errors_url: string;
        };
        /** @description A page of batches. */
        BatchPage: {
            /**
             * @description The `cursor` of the next page; null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description The batches, newest first. */
            data: components["schemas"]["BatchStatus"][];
        };
        /** @description One call of the receiver. */
        WebhookTry: {
            /**
             * Format: date-time
             * @description The time of the call, in UTC with milliseconds.
             * @example 2026-03-01T12:00:02.501Z
             */
            at: string;
            /**
             * @description The HTTP status of the answer; null: there was none.
             * @example 200
             */
            status: number | null;
            /**
             * @description The duration of the call in milliseconds.
             * @example 84
             */
            duration_ms: number;
            /**
             * @description The first KiB of the answer; null: there was no answer, or the request was erased.
             * @example ok
             */
            body: string | null;
            /**
             * @description The reason for which there was no answer.
             * @example null
             */
            error: string | null;
        };
        /** @description The notification of one receiver about one event of a request. */
        WebhookDelivery: {
            /**
             * Format: uuid
             * @description The id of the delivery. Each try sends it as `webhook-id`.
             * @example 7d1b5a0e-2c64-4a8e-9f35-0b6c1d2e3f40
             */
            id: string;
            /**
             * @description The type of the event. A later release may have more types.
             * @example request.completed
             */
            event: string;
            /**
             * Format: uri
             * @description The URL of the receiver.
             * @example https://example.org/hook
             */
            url: string;
            /**
             * @description `pending`: it is tried, or will be tried again. `delivered`: the receiver accepted it. `failed`: no tries are left. `ended`: the receiver answered 410, or the request was deleted.
             * @example delivered
             * @enum {string}
             */
            state: "pending" | "delivered" | "failed" | "ended";
            /**
             * Format: date-time
             * @description The time of the next try; null: the delivery is not pending. While a try is in progress, the time at which another node may try.
             * @example null
             */
            next_try_at: string | null;
            /** @description The last 100 tries, oldest first. */
            tries: components["schemas"]["WebhookTry"][];
        };
        /** @description The webhooks of a request. */
        WebhookDeliveries: {
            /** @description The deliveries, oldest first. Most are made when the request completes. */
            data: components["schemas"]["WebhookDelivery"][];
        };
        /** @description A URL that gets the events of all requests of the key. */
        WebhookEndpoint: {
            /**
             * Format: uuid
             * @description The id of the endpoint.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * Format: uri
             * @description The URL that is called.
             * @example https://example.org/hook
             */
            url: string;
            /**
             * @description The events that it gets. The type of the event. A later release may have more types.
             * @example [
             *       "request.completed"
             *     ]
             */
            events: string[];
            /**
             * Format: date-time
             * @description The time at which it was added.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time since which it gets no new deliveries, because it was disabled or answered 410; null: it is called.
             * @example null
             */
            disabled_at: string | null;
        };
        /** @description A page of endpoints, newest first. */
        WebhookEndpointPage: {
            /**
             * @description The `cursor` of the next page; null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description The endpoints of the page. */
            data: components["schemas"]["WebhookEndpoint"][];
        };
        /** @description The reason for which a completed request has no response. */
        RequestError: {
            /**
             * @description The stable name of the kind of failure.
             * @example model_error
             * @enum {string}
             */
            code: "bad_request" | "invalid_json" | "invalid_query" | "invalid_upload" | "not_completed" | "already_completed" | "missing_key" | "invalid_key" | "sign_in_refused" | "forbidden" | "invalid_upload_url" | "rate_limited" | "not_found" | "unknown_model" | "unknown_id" | "unknown_request" | "unknown_file" | "unknown_operation" | "batch_not_found" | "method_not_allowed" | "conflict" | "batch_ended" | "claim_conflict" | "gone" | "lease_lost" | "worker_stopped" | "changed_meanwhile" | "body_too_large" | "too_large" | "unsupported_encoding" | "range_not_satisfiable" | "invalid_input" | "input_file_not_found" | "invalid_models_file" | "idempotency_key_reused" | "invalid_idempotency_key" | "cancelled" | "too_slow" | "caller_busy" | "queue_full" | "worker_resting" | "internal_error" | "model_error" | "model_unavailable" | "node_lost" | "worker_lost" | "unavailable" | "overloaded" | "model_paused" | "timed_out" | "expired" | "storage_full";
            /**
             * @description A description of the failure.
             * @example The model refused the input.
             */
            message: string;
            /**
             * Format: date-time
             * @description The time of the failure, in UTC.
             * @example 2026-03-01T12:00:02.500Z
             */
            timestamp: string;
            /**
             * @description The model’s own error, as any JSON value.
             * @example {
             *       "reason": "the prompt was refused"
             *     }
             */
            details?: components["schemas"]["JsonValue"];
        };
        /** @description The final measurements. */
        FinalMetrics: {
            /**
             * @description The time from submission to start, in seconds.
             * @example 0.042
             */
            queue_time: number;
            /**
             * @description The time that the model took, in seconds; null: the request never ran.
             * @example 2.513
             */
            inference_time: number | null;
            /**
             * @description What the last attempt used, such as tokens: whole numbers by name, nested names joined by a point. Absent if the model reports no usage.
             * @example {
             *       "prompt_tokens": 12,
             *       "completion_tokens": 48
             *     }
             */
            usage?: {
                [key: string]: number;
            };
        };
        /** @description The body of `request.completed`. */
        CompletedEvent: {
            /**
             * Format: date-time
             * @description The time of the event, in UTC with milliseconds.
             * @example 2026-03-01T12:00:00.000Z
             */
            timestamp: string;
            /**
             * @description The id of the request.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id: string;
            /**
             * @description The id of the model.
             * @example demo/image/fractal
             */
            model_id: string;
            /**
             * @description The attempt, counted from 1; 0: it never ran.
             * @example 1
             */
            attempt: number;
            /**
             * @description The tags of the request.
             * @example [
             *       "job:17"
             *     ]
             */
            tags: string[];
            /**
             * @description The type of the event.
             * @example request.completed
             * @enum {string}
             */
            type: "request.completed";
            /**
             * @description `ERROR`: the request failed, was cancelled or expired.
             * @example OK
             * @enum {string}
             */
            status: "OK" | "ERROR";
            /**
             * @description The output of the model; null with `ERROR` or a `payload_error`.
             * @example {
             *       "prompt": "hello"
             *     }
             */
            payload: components["schemas"]["JsonValue"];
            /**
             * @description The reason for which a success has no `payload`. `too_large`: above 256 KiB. `gone`: it was removed. Absent otherwise.
             * @example too_large
             * @enum {string}
             */
            payload_error?: "gone" | "too_large";
            /** @description The error of a request that did not succeed; null: it succeeded. */
            error: components["schemas"]["RequestError"] | null;
            /** @description The measurements of the request. */
            metrics: components["schemas"]["FinalMetrics"];
            /**
             * Format: uri
             * @description The URL of the response.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            response_url: string;
        };
        /** @description The measurements so far. */
        QueueMetrics: {
            /**
             * @description The time from submission to start, in seconds.
             * @example 0.042
             */
            queue_time: number;
        };
        /** @description The body of `request.started`. */
        StartedEvent: {
            /**
             * Format: date-time
             * @description The time of the event, in UTC with milliseconds.
             * @example 2026-03-01T12:00:00.000Z
             */
            timestamp: string;
            /**
             * @description The id of the request.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id: string;
            /**
             * @description The id of the model.
             * @example demo/image/fractal
             */
            model_id: string;
            /**
             * @description The attempt, counted from 1; 0: it never ran.
             * @example 1
             */
            attempt: number;
            /**
             * @description The tags of the request.
             * @example [
             *       "job:17"
             *     ]
             */
            tags: string[];
            /**
             * Format: uri
             * @description The URL of the status of the request.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status
             */
            status_url: string;
            /**
             * @description The type of the event.
             * @example request.started
             * @enum {string}
             */
            type: "request.started";
            /** @description The measurements of the request until its start. */
            metrics: components["schemas"]["QueueMetrics"];
        };
        /** @description The progress of the run, as the run last reported it. */
        Progress: {
            /**
             * @description The progress, from 0 to 1.
             * @example 0.4
             */
            value: number;
            /**
             * @description The current step of the run; null: the run did not report one.
             * @example Drawing line 205 of 512
             */
            message: string | null;
        };
        /** @description The body of `request.progress`. */
        ProgressEvent: {
            /**
             * Format: date-time
             * @description The time of the event, in UTC with milliseconds.
             * @example 2026-03-01T12:00:00.000Z
             */
            timestamp: string;
            /**
             * @description The id of the request.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id: string;
            /**
             * @description The id of the model.
             * @example demo/image/fractal
             */
            model_id: string;
            /**
             * @description The attempt, counted from 1; 0: it never ran.
             * @example 1
             */
            attempt: number;
            /**
             * @description The tags of the request.
             * @example [
             *       "job:17"
             *     ]
             */
            tags: string[];
            /**
             * Format: uri
             * @description The URL of the status of the request.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status
             */
            status_url: string;
            /**
             * @description The type of the event.
             * @example request.progress
             * @enum {string}
             */
            type: "request.progress";
            /** @description The progress of the run; null: the request was erased meanwhile. */
            progress: components["schemas"]["Progress"] | null;
        };
        /** @description An endpoint to add. */
        NewWebhookEndpoint: {
            /**
             * @description The URL that is called: `https` to a public address, or an address that the setting `WEBHOOK_ALLOW` lists.
             * @example https://example.org/hook
             */
            url: string;
            /**
             * @description The events that it gets. Default: `request.completed`; an endpoint that exists keeps its events.
             * @example [
             *       "request.completed"
             *     ]
             */
            events?: ("request.completed" | "request.started" | "request.progress" | "batch.completed")[];
        };
        /** @description An added endpoint with the secret of the key. */
        MadeWebhookEndpoint: {
            /**
             * Format: uuid
             * @description The id of the endpoint.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * Format: uri
             * @description The URL that is called.
             * @example https://example.org/hook
             */
            url: string;
            /**
             * @description The events that it gets. The type of the event. A later release may have more types.
             * @example [
             *       "request.completed"
             *     ]
             */
            events: string[];
            /**
             * Format: date-time
             * @description The time at which it was added.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time since which it gets no new deliveries, because it was disabled or answered 410; null: it is called.
             * @example null
             */
            disabled_at: string | null;
            /**
             * @description The newest secret with which the webhooks of the key are signed, for the receiver. Lists do not show it.
             * @example whsec_…
             */
            secret: string;
        };
        /** @description The secrets with which the webhooks of a key are signed. */
        WebhookSecrets: {
            /**
             * @description The secrets in use, newest first. After a rotation there are two for a day.
             * @example [
             *       "whsec_…"
             *     ]
             */
            secrets: string[];
        };
        /** @description What changes of an endpoint. A member that is left out stays as it is. */
        WebhookEndpointChanges: {
            /**
             * @description The URL that is called: `https` to a public address, or an address that the setting `WEBHOOK_ALLOW` lists.
             * @example https://example.org/hook
             */
            url?: string;
            /**
             * @description The events that it gets.
             * @example [
             *       "request.completed"
             *     ]
             */
            events?: ("request.completed" | "request.started" | "request.progress" | "batch.completed")[];
            /**
             * @description true: it gets no new deliveries. false: it is called again, also after a 410.
             * @example false
             */
            disabled?: boolean;
        };
        /** @description A page of a list of requests. */
        RequestPage: {
            /**
             * @description The `cursor` of the next page; null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description The requests, newest first. A page may be short or empty although `next_cursor` is not null. */
            data: components["schemas"]["Status"][];
        };
        /** @description A submission in a batch. It has the same options as a single submission. */
        BatchEntry: {
            /** @description A URL that is called when the request completes. */
            webhook?: string;
            /**
             * @description `high`, `normal` (the default) or `low`: requests of a higher priority are claimed before all others of the model.
             * @example normal
             * @enum {string}
             */
            priority?: "high" | "normal" | "low";
            /**
             * Format: date-time
             * @description RFC 3339: the time at which the request joins the queue, at most 30 days ahead. Not together with `delay`.
             */
            not_before?: string;
            /** @description A duration from now until the request joins the queue, such as `30s`, `10m` or `2h`. */
            delay?: string;
            /** @description A duration. A request that waits for longer, over all attempts, ends as `expired`. It counts from the submission, or from the time at which a scheduled request is due, and is at most the model’s own value. */
            expires?: string;
            /** @description A duration: the longest time that a run may take. It is at most the model’s own value. */
            timeout?: string;
            /**
             * @description One tag `key:value`, or up to 8.
             * @example [
             *       "job:17"
             *     ]
             */
            tag?: string | string[];
            /**
             * @description The model of the request.
             * @example demo/image/fractal
             */
            model_id: string;
            /**
             * @description The input of the model: a JSON object that fits its schema.
             * @example {
             *       "prompt": "a spiral of light"
             *     }
             */
            input: {
                [key: string]: unknown;
            };
            /** @description Like the header `Idempotency-Key`: 1 to 255 printable ASCII characters. */
            idempotency_key?: string;
        };
        /** @description A batch of submissions. */
        Batch: {
            /** @description The submissions. The results have the same order. */
            requests: components["schemas"]["BatchEntry"][];
        };
        /** @description A fault at one place of the input. */
        FieldError: {
            /**
             * @description The place of the fault: a JSON Pointer (RFC 6901) into the body; empty for the whole body.
             * @example /width
             */
            path: string;
            /**
             * @description The fault.
             * @example must be an integer
             */
            message: string;
        };
        /** @description The result of an entry: the four fields of a submission with status 202, or the problem. */
        BatchResult: {
            /**
             * @description The status that a single submission would get.
             * @example 202
             */
            status: number;
            /**
             * Format: uuid
             * @description The request.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id?: string;
            /**
             * Format: uri
             * @description The URL of the response.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            response_url?: string;
            /**
             * Format: uri
             * @description The URL of the status.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status
             */
            status_url?: string;
            /**
             * Format: uri
             * @description The URL that cancels the request.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel
             */
            cancel_url?: string;
            /**
             * @description The stable name of the kind of problem.
             * @enum {string}
             */
            code?: "bad_request" | "invalid_json" | "invalid_query" | "invalid_upload" | "not_completed" | "already_completed" | "missing_key" | "invalid_key" | "sign_in_refused" | "forbidden" | "invalid_upload_url" | "rate_limited" | "not_found" | "unknown_model" | "unknown_id" | "unknown_request" | "unknown_file" | "unknown_operation" | "batch_not_found" | "method_not_allowed" | "conflict" | "batch_ended" | "claim_conflict" | "gone" | "lease_lost" | "worker_stopped" | "changed_meanwhile" | "body_too_large" | "too_large" | "unsupported_encoding" | "range_not_satisfiable" | "invalid_input" | "input_file_not_found" | "invalid_models_file" | "idempotency_key_reused" | "invalid_idempotency_key" | "cancelled" | "too_slow" | "caller_busy" | "queue_full" | "worker_resting" | "internal_error" | "model_error" | "model_unavailable" | "node_lost" | "worker_lost" | "unavailable" | "overloaded" | "model_paused" | "timed_out" | "expired" | "storage_full";
            /** @description A description of the problem. */
            detail?: string;
            /** @description With `invalid_input`: every place that does not fit the schema of the model. */
            errors?: components["schemas"]["FieldError"][];
        };
        /** @description The results of a batch. */
        BatchResults: {
            /** @description The results, in the order of the entries. */
            results: components["schemas"]["BatchResult"][];
        };
        /** @description The statuses of a list of requests. */
        Statuses: {
            /** @description The statuses, in the order of the ids; null: the request is unknown, belongs to another key, or was deleted. */
            results: (components["schemas"]["Status"] | null)[];
        };
        /** @description A list of requests. */
        RequestIds: {
            /**
             * @description The ids of the requests, up to 1,000.
             * @example [
             *       "019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b"
             *     ]
             */
            request_ids: string[];
        };
        /** @description The filters of the list. A request must match every filter that is given. */
        RequestFilter: {
            /**
             * @description Only requests of this model.
             * @example demo/image/fractal
             */
            model_id?: string;
            /**
             * @description Only requests in this state.
             * @example COMPLETED
             * @enum {string}
             */
            status?: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED";
            /**
             * @description Only requests with this outcome.
             * @example failed
             * @enum {string}
             */
            outcome?: "succeeded" | "failed" | "cancelled" | "expired";
            /**
             * @description One tag `key:value`, or several that a request must all have.
             * @example job:17
             */
            tag?: string | string[];
            /**
             * Format: date-time
             * @description RFC 3339: only requests submitted at this time or later.
             */
            created_after?: string;
            /**
             * Format: date-time
             * @description RFC 3339: only requests submitted before this time.
             */
            created_before?: string;
        };
        /** @description The requests to cancel: by their ids or by a filter, not both. */
        CancelMany: {
            /** @description The ids of the requests, up to 10,000. */
            request_ids?: string[];
            /** @description A filter with at least one member. */
            filter?: components["schemas"]["RequestFilter"];
        };
        /** @description The results of a bulk cancel. */
        CancelCounts: {
            /**
             * @description The number of requests that waited, and will never start.
             * @example 12
             */
            cancelled: number;
            /**
             * @description The number of requests that are running and were asked to stop.
             * @example 4
             */
            cancellation_requested: number;
            /**
             * @description The number of requests that had completed. With a filter, only requests that completed during the call.
             * @example 0
             */
            already_completed: number;
            /**
             * @description The number of requests that are unknown, belong to another key, or were deleted.
             * @example 0
             */
            unknown: number;
            /**
             * @description True if more requests match the filter. In this case, send the call again.
             * @example false
             */
            more: boolean;
        };
        /** @description A request in the queue, with its URLs. */
        QueuedRequest: {
            /**
             * Format: uuid
             * @description Unique identifier of the queued request, a UUIDv7; used in all request-level paths.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id: string;
            /**
             * Format: uri
             * @description The URL of the response, which exists once the request has completed.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            response_url: string;
            /**
             * Format: uri
             * @description The URL of the status; add /stream to follow it.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status
             */
            status_url: string;
            /**
             * Format: uri
             * @description The URL that cancels the request, with PUT.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel
             */
            cancel_url: string;
        };
        /** @description A log entry of a request. */
        LogEntry: {
            /**
             * @description The text of the entry.
             * @example Drawing line 120 of 512
             */
            message: string;
            /**
             * @description The severity of the entry.
             * @example INFO
             * @enum {string}
             */
            level: "DEBUG" | "INFO" | "WARN" | "ERROR";
            /**
             * @description The origin of the entry: the queue, the runner, or an output stream of the model.
             * @example runner
             * @enum {string}
             */
            source: "queue" | "runner" | "stdout" | "stderr";
            /**
             * Format: date-time
             * @description The time of the entry, in UTC with milliseconds.
             * @example 2026-03-01T12:00:01.250Z
             */
            timestamp: string;
        };
        /** @description Nothing has been measured yet. */
        NoMetrics: Record<string, never>;
        /** @description The interval in which an event is likely: an estimate, not a promise. It is right more often than not. */
        TimeSpan: {
            /**
             * Format: date-time
             * @description The event is unlikely to happen before this time, in UTC.
             * @example 2026-03-01T12:00:20.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description The event is unlikely to happen after this time.
             * @example 2026-03-01T12:00:40.000Z
             */
            to: string;
        };
        /** @description The status of a request that waits. */
        InQueueStatus: {
            /**
             * Format: uuid
             * @description Unique identifier of the queued request, a UUIDv7; used in all request-level paths.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id: string;
            /**
             * Format: uri
             * @description The URL of the response, which exists once the request has completed.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            response_url: string;
            /**
             * Format: uri
             * @description The URL of the status; add /stream to follow it.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status
             */
            status_url: string;
            /**
             * Format: uri
             * @description The URL that cancels the request, with PUT.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel
             */
            cancel_url: string;
            /**
             * @description The model of the request.
             * @example demo/image/fractal
             */
            model_id: string;
            /**
             * Format: date-time
             * @description The time at which it was submitted, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time at which its last attempt started; null: none has started.
             * @example null
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description The time at which it completed; null: it has not completed.
             * @example null
             */
            completed_at: string | null;
            /**
             * @description The current, next or last attempt. A start that did not reach the model does not count.
             * @example 1
             */
            attempt: number;
            /**
             * @description The tags of its submission, as `key:value`.
             * @example [
             *       "job:17"
             *     ]
             */
            tags: string[];
            /**
             * Format: date-time
             * @description The time at which it joins or joined the queue, if its submission set one.
             */
            scheduled_at?: string;
            /**
             * Format: uuid
             * @description The request that this one repeats.
             */
            retry_of?: string;
            /**
             * Format: uuid
             * @description The request that repeats this one. If there are several, the last one.
             */
            retried_as?: string;
            /**
             * Format: date-time
             * @description The time at which its content was erased. Only in lists.
             */
            erased_at?: string;
            /** @description The log, with `logs=1`: oldest first, at most 1,000 entries and 64 KiB of text. Empty while in the queue. */
            logs?: components["schemas"]["LogEntry"][];
            /**
             * @description The state. (enum property replaced by openapi-typescript) (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            status: "IN_QUEUE";
            /**
             * @description The number of requests of the same model that will start before this one; 0 at the front.
             * @example 0
             */
            queue_position: number;
            /** @description No measurements yet. */
            metrics: components["schemas"]["NoMetrics"];
            /**
             * @description The reason for which it waits: slots of the model (`busy`), a model that is not reachable (`unavailable`) or paused, its scheduled time (`scheduled`), or the pause before its next attempt (`retrying`).
             * @example busy
             * @enum {string}
             */
            reason: "busy" | "unavailable" | "paused" | "scheduled" | "retrying";
            /**
             * @description The estimated start, from the duration of runs, the requests before it, and the rate at which other requests join before it. Absent if too little is known, or if it waits for something other than slots.
             * @example {
             *       "from": "2026-03-01T12:00:20.000Z",
             *       "to": "2026-03-01T12:00:40.000Z"
             *     }
             */
            estimated_start?: components["schemas"]["TimeSpan"];
            /**
             * @description The estimated end, if its next attempt is the last. Absent under the same conditions as `estimated_start`.
             * @example {
             *       "from": "2026-03-01T12:00:22.000Z",
             *       "to": "2026-03-01T12:00:43.000Z"
             *     }
             */
            estimated_end?: components["schemas"]["TimeSpan"];
        };
        /** @description The status of a request that is running. */
        InProgressStatus: {
            /**
             * Format: uuid
             * @description Unique identifier of the queued request, a UUIDv7; used in all request-level paths.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id: string;
            /**
             * Format: uri
             * @description The URL of the response, which exists once the request has completed.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            response_url: string;
            /**
             * Format: uri
             * @description The URL of the status; add /stream to follow it.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status
             */
            status_url: string;
            /**
             * Format: uri
             * @description The URL that cancels the request, with PUT.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel
             */
            cancel_url: string;
            /**
             * @description The model of the request.
             * @example demo/image/fractal
             */
            model_id: string;
            /**
             * Format: date-time
             * @description The time at which it was submitted, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time at which its last attempt started; null: none has started.
             * @example null
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description The time at which it completed; null: it has not completed.
             * @example null
             */
            completed_at: string | null;
            /**
             * @description The current, next or last attempt. A start that did not reach the model does not count.
             * @example 1
             */
            attempt: number;
            /**
             * @description The tags of its submission, as `key:value`.
             * @example [
             *       "job:17"
             *     ]
             */
            tags: string[];
            /**
             * Format: date-time
             * @description The time at which it joins or joined the queue, if its submission set one.
             */
            scheduled_at?: string;
            /**
             * Format: uuid
             * @description The request that this one repeats.
             */
            retry_of?: string;
            /**
             * Format: uuid
             * @description The request that repeats this one. If there are several, the last one.
             */
            retried_as?: string;
            /**
             * Format: date-time
             * @description The time at which its content was erased. Only in lists.
             */
            erased_at?: string;
            /** @description The log, with `logs=1`: oldest first, at most 1,000 entries and 64 KiB of text. Empty while in the queue. */
            logs?: components["schemas"]["LogEntry"][];
            /**
             * @description The state. (enum property replaced by openapi-typescript) (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            status: "IN_PROGRESS";
            /** @description The measurements so far. */
            metrics: components["schemas"]["QueueMetrics"];
            /**
             * @description The progress of the run. Absent until the run reports it.
             * @example {
             *       "value": 0.4,
             *       "message": "Drawing line 205 of 512"
             *     }
             */
            progress?: components["schemas"]["Progress"];
            /**
             * @description The estimated end, from the duration of other runs. Absent if too little is known.
             * @example {
             *       "from": "2026-03-01T12:00:22.000Z",
             *       "to": "2026-03-01T12:00:43.000Z"
             *     }
             */
            estimated_end?: components["schemas"]["TimeSpan"];
        };
        /** @description The status of a request that has ended. It does not change any more. */
        CompletedStatus: {
            /**
             * Format: uuid
             * @description Unique identifier of the queued request, a UUIDv7; used in all request-level paths.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id: string;
            /**
             * Format: uri
             * @description The URL of the response, which exists once the request has completed.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            response_url: string;
            /**
             * Format: uri
             * @description The URL of the status; add /stream to follow it.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status
             */
            status_url: string;
            /**
             * Format: uri
             * @description The URL that cancels the request, with PUT.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel
             */
            cancel_url: string;
            /**
             * @description The model of the request.
             * @example demo/image/fractal
             */
            model_id: string;
            /**
             * Format: date-time
             * @description The time at which it was submitted, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time at which its last attempt started; null: none has started.
             * @example null
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description The time at which it completed; null: it has not completed.
             * @example null
             */
            completed_at: string | null;
            /**
             * @description The current, next or last attempt. A start that did not reach the model does not count.
             * @example 1
             */
            attempt: number;
            /**
             * @description The tags of its submission, as `key:value`.
             * @example [
             *       "job:17"
             *     ]
             */
            tags: string[];
            /**
             * Format: date-time
             * @description The time at which it joins or joined the queue, if its submission set one.
             */
            scheduled_at?: string;
            /**
             * Format: uuid
             * @description The request that this one repeats.
             */
            retry_of?: string;
            /**
             * Format: uuid
             * @description The request that repeats this one. If there are several, the last one.
             */
            retried_as?: string;
            /**
             * Format: date-time
             * @description The time at which its content was erased. Only in lists.
             */
            erased_at?: string;
            /** @description The log, with `logs=1`: oldest first, at most 1,000 entries and 64 KiB of text. Empty while in the queue. */
            logs?: components["schemas"]["LogEntry"][];
            /**
             * @description The state. (enum property replaced by openapi-typescript) (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            status: "COMPLETED";
            /** @description The final measurements. */
            metrics: components["schemas"]["FinalMetrics"];
            /**
             * @description True if there is a response to fetch.
             * @example true
             */
            success: boolean;
            /** @description The error, if the request did not succeed. */
            error: components["schemas"]["RequestError"] | null;
        };
        /** @description The response of a request, with its log and measurements. */
        ResponseWithLogs: {
            /**
             * Format: uuid
             * @description The request.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id: string;
            /**
             * @description The state.
             * @example COMPLETED
             * @enum {string}
             */
            status: "COMPLETED";
            /**
             * @description The model’s output, as any JSON value.
             * @example {
             *       "image": {
             *         "url": "data:image/png;base64,…",
             *         "width": 512,
             *         "height": 512
             *       },
             *       "seed": 7
             *     }
             */
            response: components["schemas"]["JsonValue"];
            /** @description The log, oldest first. */
            logs: components["schemas"]["LogEntry"][];
            /** @description The final measurements. */
            metrics: components["schemas"]["FinalMetrics"];
        };
        /** @description The result of a cancellation. */
        CancelAnswer: {
            /**
             * @description CANCELLED: the request will never start, or was cancelled before. CANCELLATION_REQUESTED: the request is running and was asked to stop; its run decides the outcome.
             * @example CANCELLED
             * @enum {string}
             */
            status: "CANCELLED" | "CANCELLATION_REQUESTED";
        };
        /** @description The status of a request that completed while its submission waited, and its output. */
        CompletedSubmission: {
            /**
             * Format: uuid
             * @description Unique identifier of the queued request, a UUIDv7; used in all request-level paths.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id: string;
            /**
             * Format: uri
             * @description The URL of the response, which exists once the request has completed.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            response_url: string;
            /**
             * Format: uri
             * @description The URL of the status; add /stream to follow it.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status
             */
            status_url: string;
            /**
             * Format: uri
             * @description The URL that cancels the request, with PUT.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel
             */
            cancel_url: string;
            /**
             * @description The model of the request.
             * @example demo/image/fractal
             */
            model_id: string;
            /**
             * Format: date-time
             * @description The time at which it was submitted, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time at which its last attempt started; null: none has started.
             * @example null
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description The time at which it completed; null: it has not completed.
             * @example null
             */
            completed_at: string | null;
            /**
             * @description The current, next or last attempt. A start that did not reach the model does not count.
             * @example 1
             */
            attempt: number;
            /**
             * @description The tags of its submission, as `key:value`.
             * @example [
             *       "job:17"
             *     ]
             */
            tags: string[];
            /**
             * Format: date-time
             * @description The time at which it joins or joined the queue, if its submission set one.
             */
            scheduled_at?: string;
            /**
             * Format: uuid
             * @description The request that this one repeats.
             */
            retry_of?: string;
            /**
             * Format: uuid
             * @description The request that repeats this one. If there are several, the last one.
             */
            retried_as?: string;
            /**
             * Format: date-time
             * @description The time at which its content was erased. Only in lists.
             */
            erased_at?: string;
            /** @description The log, with `logs=1`: oldest first, at most 1,000 entries and 64 KiB of text. Empty while in the queue. */
            logs?: components["schemas"]["LogEntry"][];
            /**
             * @description The state.
             * @example COMPLETED
             * @enum {string}
             */
            status: "COMPLETED";
            /** @description The final measurements. */
            metrics: components["schemas"]["FinalMetrics"];
            /**
             * @description True if there is a response to fetch.
             * @example true
             */
            success: boolean;
            /** @description The error, if the request did not succeed. */
            error: components["schemas"]["RequestError"] | null;
            /**
             * @description The model’s output unchanged, as any JSON value; absent if the request has none.
             * @example {
             *       "image": {
             *         "url": "data:image/png;base64,iVBORw0KGgo=",
             *         "width": 512,
             *         "height": 512
             *       },
             *       "seed": 7
             *     }
             */
            response?: components["schemas"]["JsonValue"];
        };
        /** @description A part of a growing output: the `data` of an event `output`. */
        OutputDelta: {
            /**
             * @description The number of the part, from 0 within an attempt, without a gap.
             * @example 7
             */
            index: number;
            /**
             * @description The part, as any JSON value. Strings that followed each other within 100 ms are joined.
             * @example upon a time
             */
            delta: components["schemas"]["JsonValue"];
        };
        /** @description Invalidates all earlier parts: the `data` of an event `reset`. */
        OutputReset: {
            /**
             * @description The attempt that begins.
             * @example 2
             */
            attempt: number;
        };
        /** @description The end of the output: the `data` of an event `done`. */
        OutputDone: {
            /**
             * @description True if there is a response to fetch. If not, the status has the reason.
             * @example true
             */
            success: boolean;
        };
        /** @description The models that a model shares slots with, and their runs. */
        AdminModelGroup: {
            /**
             * @description The name of the group.
             * @example gpu-0
             */
            id: string;
            /**
             * @description The number of runs that its models may have at once, all together.
             * @example 1
             */
            concurrency: number;
            /**
             * @description The number of runs that its models have now, all together.
             * @example 1
             */
            running: number;
            /**
             * @description The number of seconds for which a model that has begun to run goes first; 0: no time.
             * @example 30
             */
            stay_s: number;
            /**
             * @description The ids of its models.
             * @example [
             *       "acme/chat/llama",
             *       "acme/image/flux"
             *     ]
             */
            models: string[];
        };
        /** @description An address to which a node sends nothing but probes. */
        AddressAway: {
            /**
             * @description The address without its path. If several addresses have the same origin, also their number in the list.
             * @example http://gpu-2:9000
             */
            address: string;
            /**
             * @description The state of the circuit. `probing`: a probe is on its way to the address.
             * @example open
             * @enum {string}
             */
            circuit: "open" | "probing";
            /**
             * Format: date-time
             * @description The time since which the node has not reached it.
             * @example 2026-03-01T12:00:00.000Z
             */
            since: string;
            /**
             * @description The reason.
             * @example The connection to the model could not be made (ECONNREFUSED).
             */
            reason: string;
        };
        /** @description A node that runs requests of the model. */
        ModelNode: {
            /**
             * @description `open`: the node cannot reach the model at any of its addresses. `probing`: in addition, a probe is on its way.
             * @example closed
             * @enum {string}
             */
            circuit: "closed" | "open" | "probing";
            /** @description The addresses that the node cannot reach. Runs go to the others. */
            addresses_away: components["schemas"]["AddressAway"][];
            /**
             * @description The name of the node, from `NODE_NAME`.
             * @example gpu-2:4711
             */
            name: string;
            /**
             * @description The number of runs that it may have at once.
             * @example 2
             */
            slots: number;
            /**
             * @description The number of its current runs.
             * @example 1
             */
            running: number;
        };
        /** @description The outcomes of the last runs of a model, on all nodes. */
        RecentRuns: {
            /**
             * @description The number of runs that are counted: of the newest 2,000 runs of all models, the last 20 of this model that ended within an hour.
             * @example 20
             */
            runs: number;
            /**
             * @description The number of those that failed, timed out or were lost.
             * @example 20
             */
            failed: number;
            /**
             * @description The number of failed runs whose input the model refused with a 4xx.
             * @example 0
             */
            refused: number;
            /**
             * @description The most frequent code of the failed runs; null: none failed.
             * @example model_error
             */
            code: string | null;
            /**
             * @description The message of the last failed run that has one; null: there is none.
             * @example The model answered 500.
             */
            message: string | null;
            /**
             * Format: date-time
             * @description The time at which the last of the runs ended.
             * @example 2026-03-01T12:00:00.000Z
             */
            last_at: string;
        };
        /** @description The median and the 95th percentile, in seconds. */
        ModelPercentiles: {
            /**
             * @description The median.
             * @example 1.2
             */
            p50: number;
            /**
             * @description The 95th percentile.
             * @example 3.4
             */
            p95: number;
        };
        /** @description The requests of a key for a model. */
        KeyWaiting: {
            /**
             * Format: uuid
             * @description The id of the key.
             * @example 01a1fbb0-8cdf-7754-9773-e0650e0cecc1
             */
            key_id: string;
            /**
             * @description The name of the key.
             * @example web shop
             */
            name: string;
            /**
             * @description The number of its requests that wait. If the order of the model is `arrival`, it covers only the first 1,000 requests of its queue and may be 2 s old.
             * @example 28
             */
            waiting: number;
            /**
             * @description The number of its requests that are running.
             * @example 2
             */
            running: number;
        };
        /** @description The counts of one minute, on all nodes. */
        MinuteCounts: {
            /**
             * Format: date-time
             * @description The beginning of the minute.
             * @example 2026-03-01T12:00:00.000Z
             */
            minute: string;
            /**
             * @description The number of runs that started.
             * @example 12
             */
            started: number;
            /**
             * @description The number of requests that completed.
             * @example 11
             */
            completed: number;
            /**
             * @description The number of those requests that failed.
             * @example 1
             */
            failed: number;
        };
        /** @description A mark for a request at the front of the queue. */
        QueueMark: {
            /**
             * @description The id of the request, or a handle if the caller may not see payloads.
             * @example rh_kq6pXv0mYx4S8n3s0J5e2Q
             */
            request_id: string;
            /**
             * Format: uuid
             * @description The id of the key that submitted it.
             * @example 01a1fbb0-8cdf-7754-9773-e0650e0cecc1
             */
            key_id: string;
            /**
             * Format: date-time
             * @description The time at which its wait began.
             * @example 2026-03-01T12:00:00.000Z
             */
            since: string;
        };
        /** @description The front of the queue, as marks. */
        QueueFront: {
            /**
             * @description The number of requests that a mark stands for.
             * @example 1
             */
            per_mark: number;
            /** @description The marks in the order of the queue, at most 120. */
            marks: components["schemas"]["QueueMark"][];
        };
        /** @description The concurrency of a model: the value in the models file, and an operator’s override. */
        OverriddenConcurrency: {
            /**
             * @description The concurrency that applies; null: unlimited, because workers run the model.
             * @example 2
             */
            current: number | null;
            /**
             * @description The value in the models file; null: unlimited.
             * @example 4
             */
            base: number | null;
            /**
             * @description The override of an operator; null: there is none.
             * @example 2
             */
            override: number | null;
            /**
             * Format: date-time
             * @description The time at which the override was set; null: there is none.
             * @example 2026-03-01T12:00:00.000Z
             */
            overridden_at: string | null;
            /**
             * @description The name of the key that set the override.
             * @example ops
             */
            overridden_by: string | null;
        };
        /** @description The slots that a model keeps for a priority and those above. */
        AdminModelReserve: {
            /**
             * @description The number of slots that only requests of high priority may use.
             * @example 1
             */
            high: number;
            /**
             * @description The number of slots besides those that only requests of normal priority or above may use.
             * @example 0
             */
            normal: number;
        };
        /** @description The pause of a model, and the key that set it. */
        OverriddenPause: {
            /**
             * @description The pause that applies; false: the model is not paused. While it is paused, no run of it starts. With `hold`, submissions wait; with `reject`, they are answered 503 `model_paused`.
             * @example hold
             */
            current: false | ("hold" | "reject");
            /**
             * @description Always false, because the models file cannot pause a model.
             * @example false
             * @enum {boolean}
             */
            base: false;
            /**
             * @description The pause that an operator has set; null: there is none.
             * @example hold
             * @enum {string|null}
             */
            override: "hold" | "reject" | null;
            /**
             * Format: date-time
             * @description The time at which the pause was set; null: there is none.
             * @example 2026-03-01T12:00:00.000Z
             */
            overridden_at: string | null;
            /**
             * @description The name of the key that set the pause.
             * @example ops
             */
            overridden_by: string | null;
        };
        /** @description A model as operators see it. */
        AdminModel: {
            /**
             * @description The description in the models file.
             * @example Draws a fractal.
             */
            description: string;
            /**
             * @description The number of requests that can start as soon as there is a free slot.
             * @example 3
             */
            waiting: number;
            /**
             * @description The number of requests that wait for their next attempt, or for the time that their caller chose.
             * @example 0
             */
            delayed: number;
            /**
             * @description The number of requests that wait because their keys run as many as they may.
             * @example 0
             */
            held: number;
            /**
             * @description The number of requests in progress on all nodes, some seconds old at most.
             * @example 2
             */
            running: number;
            /**
             * @description The number of runs that all nodes, or all workers, may have at once; null: unlimited.
             * @example 2
             */
            slots: number | null;
            /** @description The group whose slots it shares; null: its slots are its own. */
            group: components["schemas"]["AdminModelGroup"] | null;
            /**
             * Format: date-time
             * @description The time at which the wait of the longest-waiting request began; null: nothing waits.
             * @example 2026-03-01T12:00:00.000Z
             */
            oldest_waiting_at: string | null;
            /**
             * @description The number of runs that started since midnight UTC.
             * @example 1204
             */
            started_today: number;
            /**
             * @description The number of runs started per second, over the last minute.
             * @example 0.9
             */
            started_per_second: number;
            /**
             * @description The number of requests that completed in the last hour.
             * @example 3301
             */
            completed_last_hour: number;
            /**
             * @description The number of those requests that failed.
             * @example 12
             */
            failed_last_hour: number;
            /**
             * @description The availability of the model: requests can start now only if it is `available`.
             * @example available
             * @enum {string}
             */
            availability: "available" | "unavailable" | "paused";
            /**
             * Format: date-time
             * @description The time since which the first of the nodes has not reached the model, even if that node was restarted since; null: a node can reach it, or no node has tried.
             * @example null
             */
            unavailable_since: string | null;
            /**
             * @description The reason for which it is unavailable; null: it is available.
             * @example null
             */
            unavailable_reason: string | null;
            /** @description The nodes that run requests. */
            nodes: components["schemas"]["ModelNode"][];
            /** @description The outcomes of its last runs, some seconds old; null: of the newest 2,000 runs of all models, none of this model ended within an hour. */
            recent_runs: components["schemas"]["RecentRuns"] | null;
            /** @description The duration of its runs in the last hour; null: too little is known. */
            run_time: components["schemas"]["ModelPercentiles"] | null;
            /** @description The time that its requests waited; null: too little is known. */
            queue_time: components["schemas"]["ModelPercentiles"] | null;
            /** @description The keys with running requests, and the keys with the most waiting requests. */
            waiting_by_key: components["schemas"]["KeyWaiting"][];
            /** @description The last 60 minutes. The current minute is the last. */
            history: components["schemas"]["MinuteCounts"][];
            /** @description The front of the queue. Present in `/v1/admin/events` while requests wait. */
            queue?: components["schemas"]["QueueFront"];
            /**
             * @description The id of the model.
             * @example demo/image/fractal
             */
            id: string;
            /**
             * @description The kind of its runner.
             * @example demo
             */
            kind: string;
            /**
             * @description The preset that says how its server is called; null: there is none.
             * @example openai
             */
            preset: string | null;
            /**
             * @description The addresses of its servers, without paths, queries and credentials. Empty: its runs need no server, or workers run it. `addresses_away` names the same ones.
             * @example [
             *       "http://gpu-1:8000",
             *       "http://gpu-2:8000"
             *     ]
             */
            addresses: string[];
            /**
             * @description `off`: it gets runs also while it cannot be reached, and no address is known to be away.
             * @example on
             * @enum {string}
             */
            circuit: "on" | "off";
            /**
             * @description The order of the queue. `fair`: keys take turns. `arrival`: requests start in the order of their arrival.
             * @example fair
             * @enum {string}
             */
            order: "fair" | "arrival";
            /** @description The number of runs at once, over all nodes. */
            concurrency: components["schemas"]["OverriddenConcurrency"];
            /** @description The slots that it keeps for a priority and those above it. */
            reserve: components["schemas"]["AdminModelReserve"];
            /** @description The pause of the model. */
            paused: components["schemas"]["OverriddenPause"];
        };
        /** @description All models. */
        AdminModelList: {
            /** @description The models, in the order of the models file. */
            data: components["schemas"]["AdminModel"][];
            /**
             * @description Always null, because there is only one page.
             * @example null
             */
            next_cursor: string | null;
        };
        /** @description A reason for the audit. */
        Reason: {
            /**
             * @description The reason, for the audit.
             * @example asked for by its owner
             */
            reason?: string | null;
        };
        /** @description A model that is no longer in the models file. */
        RemovedModel: {
            /**
             * @description The id of the model.
             * @example acme/image/upscale
             */
            id: string;
            /**
             * @description The number of requests that wait for it. They wait until the model returns, or until they are cancelled or expire.
             * @example 0
             */
            waiting: number;
        };
        /** @description The changes since the models file was last read. */
        ModelsReload: {
            /**
             * @description Models that are new.
             * @example [
             *       "acme/image/upscale"
             *     ]
             */
            added: string[];
            /**
             * @description Models whose options have changed.
             * @example [
             *       "demo/text/echo"
             *     ]
             */
            changed: string[];
            /** @description Models that are no longer in the file. */
            removed: components["schemas"]["RemovedModel"][];
        };
        /** @description A change of a model. An omitted member stays as it is. */
        ModelChange: {
            /**
             * @description The number of runs at once, over all nodes; null: the value in the models file.
             * @example 2
             */
            concurrency?: number | null;
            /**
             * @description `hold`: no run starts, and submissions wait. `reject`: submissions are refused. false or null: the model is not paused.
             * @example hold
             */
            paused?: false | ("hold" | "reject") | null;
            /**
             * @description The reason, for the audit.
             * @example asked for by its owner
             */
            reason?: string | null;
        };
        /** @description The id and the name of a key. */
        KeyName: {
            /**
             * Format: uuid
             * @description The id of the key.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * @description The name of the key; null: the key was deleted.
             * @example web shop
             */
            name: string | null;
        };
        /** @description A program that claims runs over HTTP, as operators see it. */
        AdminWorker: {
            /**
             * Format: uuid
             * @description The name of the worker in `/v1/admin/workers`. It stays the same after a restart.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            uid: string;
            /**
             * @description The id that the worker gives itself. It is unique within its key.
             * @example gpu-box-1
             */
            id: string;
            /**
             * @description The name of the worker, for people.
             * @example gpu-box-1
             */
            name: string;
            /** @description The key of the worker. */
            key: components["schemas"]["KeyName"];
            /**
             * @description The version of its program, as the worker reports it.
             * @example 1.2.0
             */
            version: string;
            /**
             * @description The labels that the worker reports.
             * @example {
             *       "gpu": "L4"
             *     }
             */
            labels: {
                [key: string]: string;
            };
            /**
             * @description The models whose runs it claims.
             * @example [
             *       "acme/image/upscale"
             *     ]
             */
            models: string[];
            /**
             * @description `resting`: its last runs failed, so it claims nothing for a while. `stuck`: it does not return from a run that is over, so it claims nothing. `draining`, `stopping`: an operator ordered that. `away`: it has made no call for 30 s.
             * @example ready
             * @enum {string}
             */
            state: "ready" | "resting" | "stuck" | "draining" | "stopping" | "away";
            /**
             * @description The state that the worker itself reports; often empty.
             * @example
             */
            says: string;
            /**
             * @description The number of its current runs.
             * @example 1
             */
            running: number;
            /**
             * Format: date-time
             * @description The time at which it was last seen, up to 20 s old.
             * @example 2026-03-01T12:00:00.000Z
             */
            seen_at: string;
            /**
             * @description The number of its latest runs that failed in a row.
             * @example 0
             */
            failures_in_row: number;
            /**
             * Format: date-time
             * @description The time until which it claims nothing; null: it may claim now.
             * @example null
             */
            resting_until: string | null;
        };
        /** @description Workers, by name. */
        AdminWorkerPage: {
            /**
             * @description The `cursor` of the next page; null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description The workers that were seen within a week. */
            data: components["schemas"]["AdminWorker"][];
        };
        /** @description A worker, and the order of an operator. */
        ToldWorker: {
            /**
             * Format: uuid
             * @description The name of the worker in `/v1/admin/workers`.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            uid: string;
            /**
             * @description The name of the worker, for people.
             * @example gpu-box-1
             */
            name: string;
            /**
             * @description The order. `run`: continue. `drain`: finish the current runs and claim nothing more. `stop`: end.
             * @example drain
             * @enum {string}
             */
            told: "run" | "drain" | "stop";
        };
        /** @description A node in brief. */
        OverviewNode: {
            /**
             * Format: uuid
             * @description The id of the node.
             * @example 01a1fbb0-8cdf-7754-9773-e0650e0cecc1
             */
            id: string;
            /**
             * @description The name of the node, from `NODE_NAME`.
             * @example gpu-2:4711
             */
            name: string;
            /**
             * @description The role of the node: it serves calls (`api`), runs requests (`scheduler`) or does both (`all`).
             * @example all
             */
            role: string;
            /**
             * @description The state of the node.
             * @example ready
             * @enum {string}
             */
            state: "ready" | "draining" | "stopping" | "fenced" | "lost";
        };
        /** @description All models and nodes at one moment. */
        Overview: {
            /**
             * Format: date-time
             * @description The time at which this overview was made.
             * @example 2026-03-01T12:00:00.000Z
             */
            at: string;
            /** @description The models, in the order of the models file. */
            models: components["schemas"]["AdminModel"][];
            /** @description The nodes, by name. */
            nodes: components["schemas"]["OverviewNode"][];
        };
        /** @description The changes at the front of a queue. */
        QueueChanges: {
            /**
             * @description The number of requests that a mark stands for.
             * @example 1
             */
            per_mark: number;
            /** @description The `request_id` of each mark to remove. */
            gone: string[];
            /** @description The marks to append after that. */
            marks: components["schemas"]["QueueMark"][];
        };
        /** @description The `id` of a model, and the members that have changed. */
        ModelChanges: {
            /**
             * @description The description in the models file.
             * @example Draws a fractal.
             */
            description?: string;
            /**
             * @description The number of requests that can start as soon as there is a free slot.
             * @example 3
             */
            waiting?: number;
            /**
             * @description The number of requests that wait for their next attempt, or for the time that their caller chose.
             * @example 0
             */
            delayed?: number;
            /**
             * @description The number of requests that wait because their keys run as many as they may.
             * @example 0
             */
            held?: number;
            /**
             * @description The number of requests in progress on all nodes, some seconds old at most.
             * @example 2
             */
            running?: number;
            /**
             * @description The number of runs that all nodes, or all workers, may have at once; null: unlimited.
             * @example 2
             */
            slots?: number | null;
            /** @description The group whose slots it shares; null: its slots are its own. */
            group?: components["schemas"]["AdminModelGroup"] | null;
            /**
             * Format: date-time
             * @description The time at which the wait of the longest-waiting request began; null: nothing waits.
             * @example 2026-03-01T12:00:00.000Z
             */
            oldest_waiting_at?: string | null;
            /**
             * @description The number of runs that started since midnight UTC.
             * @example 1204
             */
            started_today?: number;
            /**
             * @description The number of runs started per second, over the last minute.
             * @example 0.9
             */
            started_per_second?: number;
            /**
             * @description The number of requests that completed in the last hour.
             * @example 3301
             */
            completed_last_hour?: number;
            /**
             * @description The number of those requests that failed.
             * @example 12
             */
            failed_last_hour?: number;
            /**
             * @description The availability of the model: requests can start now only if it is `available`.
             * @example available
             * @enum {string}
             */
            availability?: "available" | "unavailable" | "paused";
            /**
             * Format: date-time
             * @description The time since which the first of the nodes has not reached the model, even if that node was restarted since; null: a node can reach it, or no node has tried.
             * @example null
             */
            unavailable_since?: string | null;
            /**
             * @description The reason for which it is unavailable; null: it is available.
             * @example null
             */
            unavailable_reason?: string | null;
            /** @description The nodes that run requests. */
            nodes?: components["schemas"]["ModelNode"][];
            /** @description The outcomes of its last runs, some seconds old; null: of the newest 2,000 runs of all models, none of this model ended within an hour. */
            recent_runs?: components["schemas"]["RecentRuns"] | null;
            /** @description The duration of its runs in the last hour; null: too little is known. */
            run_time?: components["schemas"]["ModelPercentiles"] | null;
            /** @description The time that its requests waited; null: too little is known. */
            queue_time?: components["schemas"]["ModelPercentiles"] | null;
            /** @description The keys with running requests, and the keys with the most waiting requests. */
            waiting_by_key?: components["schemas"]["KeyWaiting"][];
            /**
             * @description The kind of its runner.
             * @example demo
             */
            kind?: string;
            /**
             * @description The preset that says how its server is called; null: there is none.
             * @example openai
             */
            preset?: string | null;
            /**
             * @description The addresses of its servers, without paths, queries and credentials. Empty: its runs need no server, or workers run it. `addresses_away` names the same ones.
             * @example [
             *       "http://gpu-1:8000",
             *       "http://gpu-2:8000"
             *     ]
             */
            addresses?: string[];
            /**
             * @description `off`: it gets runs also while it cannot be reached, and no address is known to be away.
             * @example on
             * @enum {string}
             */
            circuit?: "on" | "off";
            /**
             * @description The order of the queue. `fair`: keys take turns. `arrival`: requests start in the order of their arrival.
             * @example fair
             * @enum {string}
             */
            order?: "fair" | "arrival";
            /** @description The number of runs at once, over all nodes. */
            concurrency?: components["schemas"]["OverriddenConcurrency"];
            /** @description The slots that it keeps for a priority and those above it. */
            reserve?: components["schemas"]["AdminModelReserve"];
            /** @description The pause of the model. */
            paused?: components["schemas"]["OverriddenPause"];
            /**
             * @description The id of the model.
             * @example demo/image/fractal
             */
            id: string;
            /** @description The minutes that have changed or are new. Keep the last 60 minutes. */
            history?: components["schemas"]["MinuteCounts"][];
            /** @description The changes at the front of the queue; null: nothing waits. */
            queue?: components["schemas"]["QueueChanges"] | null;
        };
        /** @description The changes since the previous event. */
        OverviewChanges: {
            /**
             * Format: date-time
             * @description The time at which this event was made.
             * @example 2026-03-01T12:00:00.000Z
             */
            at: string;
            /** @description The models that have changed. */
            models: components["schemas"]["ModelChanges"][];
            /** @description The nodes that have changed, each complete. */
            nodes: components["schemas"]["OverviewNode"][];
        };
        /** @description A sign that the stream is alive, and how current its figures are. */
        OverviewAlive: {
            /**
             * Format: date-time
             * @description The time at which the event was sent.
             * @example 2026-03-01T12:00:00.000Z
             */
            at: string;
            /**
             * @description The database as the node sees it. While it is `away`, calls are answered 503.
             * @example up
             * @enum {string}
             */
            database: "up" | "away";
            /**
             * Format: date-time
             * @description The time since which the database has not answered; null: it answers.
             * @example null
             */
            database_away_since: string | null;
            /**
             * @description The fault of the disk of the node or of the database: what it prevents, and what to do; null: no fault is known.
             * @example null
             */
            disk_fault: string | null;
            /**
             * Format: date-time
             * @description The time at which the figures were last read; null: never.
             * @example 2026-03-01T12:00:00.000Z
             */
            read_at: string | null;
        };
        /** @description An interval of time. */
        TimeInterval: {
            /**
             * Format: date-time
             * @description The beginning of the interval.
             * @example 2026-03-01T12:00:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description The end of the interval.
             * @example 2026-03-01T12:00:00.000Z
             */
            to: string;
        };
        /** @description A request that is running or in the queue. */
        QueueEntry: {
            /**
             * @description The id of the request, or a handle if the caller may not see payloads.
             * @example rh_kq6pXv0mYx4S8n3s0J5e2Q
             */
            request_id: string;
            /**
             * @description The state of the request. `held`: its key already runs as many requests as it may. `delayed`: it waits for its next attempt.
             * @example waiting
             * @enum {string}
             */
            state: "running" | "waiting" | "held" | "delayed";
            /**
             * @description The number of requests that will start before it; null: it is running.
             * @example 3
             */
            position: number | null;
            /** @description The key that submitted it. */
            key: components["schemas"]["KeyName"];
            /**
             * @description The priority of the request.
             * @example normal
             * @enum {string}
             */
            priority: "high" | "normal" | "low";
            /**
             * Format: date-time
             * @description The time at which its wait began: its submission, or the time for which it was scheduled.
             * @example 2026-03-01T12:00:00.000Z
             */
            since: string;
            /**
             * @description The number of its attempts so far.
             * @example 0
             */
            attempt: number;
            /**
             * Format: date-time
             * @description The time at which its run began; null: it waits.
             * @example null
             */
            started_at: string | null;
            /**
             * @description The node or worker that runs it; null: it waits.
             * @example null
             */
            node: string | null;
            /**
             * Format: date-time
             * @description The earliest time at which it may start; null: there is none.
             * @example null
             */
            not_before: string | null;
            /** @description The interval in which it is likely to start. Absent if too little is known. */
            estimated_start?: components["schemas"]["TimeInterval"];
        };
        /** @description A page of a queue. */
        QueueEntryPage: {
            /**
             * @description The `cursor` of the next page; null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description The entries. The first page begins with the running requests; the waiting ones follow in order. */
            data: components["schemas"]["QueueEntry"][];
        };
        /** @description The share of a model that a key gets. */
        Share: {
            /** @description The key. */
            key: components["schemas"]["KeyName"];
            /**
             * @description The weight of the key.
             * @example 1
             */
            weight: number;
            /**
             * @description The number of its requests that may run at once; null: unlimited.
             * @example null
             */
            max_running: number | null;
            /**
             * @description The number of its requests that wait.
             * @example 28
             */
            waiting: number;
            /**
             * @description The number of those that wait because of `max_running`.
             * @example 0
             */
            held: number;
            /**
             * @description The number of its requests that are running.
             * @example 2
             */
            running: number;
            /**
             * @description Its part of all running requests; null: nothing is running.
             * @example 0.5
             */
            share_now: number | null;
            /**
             * @description The number of its runs that started in the last hour.
             * @example 312
             */
            starts_last_hour: number;
            /**
             * @description The total time that its requests ran in the last hour, in seconds.
             * @example 1204.5
             */
            run_seconds_last_hour: number;
            /**
             * @description Its part of all running time in the last hour; null: nothing ran.
             * @example 0.48
             */
            share_last_hour: number | null;
        };
        /** @description The share of a model that each key gets. */
        ShareList: {
            /** @description The keys, those with the longest running time first. */
            data: components["schemas"]["Share"][];
            /**
             * @description Always null, because there is only one page.
             * @example null
             */
            next_cursor: string | null;
            /**
             * @description `waiting` and `held` cover only this many requests at the front of the queue, which happens with `order: arrival`; null: they cover all.
             * @example null
             */
            sampled: number | null;
        };
        /** @description The slots and runs of a node for a model. */
        NodeModel: {
            /**
             * @description `open`: the node cannot reach the model at any of its addresses. `probing`: in addition, a probe is on its way.
             * @example closed
             * @enum {string}
             */
            circuit: "closed" | "open" | "probing";
            /** @description The addresses that the node cannot reach. Runs go to the others. */
            addresses_away: components["schemas"]["AddressAway"][];
            /**
             * @description The model.
             * @example demo/image/fractal
             */
            model_id: string;
            /**
             * @description The number of runs that it may have at once.
             * @example 2
             */
            slots: number;
            /**
             * @description The number of its current runs.
             * @example 1
             */
            running: number;
            /**
             * Format: date-time
             * @description For a silent node, the time until which no other node uses its slots; null: the node is not silent.
             * @example null
             */
            resting_until: string | null;
            /**
             * @description The reason for which the node cannot reach the model; null: it can.
             * @example null
             */
            reason: string | null;
            /**
             * @description The number of runs that ended on this node within an hour, among the newest 5,000 of all models.
             * @example 120
             */
            recent_runs: number;
            /**
             * @description The number of those that failed, timed out or were lost.
             * @example 2
             */
            recent_failed: number;
            /** @description The duration of the successful ones, in seconds; null: there were too few. */
            run_time: components["schemas"]["ModelPercentiles"] | null;
        };
        /** @description A process of the cluster. */
        AdminNode: {
            /**
             * Format: uuid
             * @description The id of the node. It changes with each start of the process.
             * @example 01a1fbb0-8cdf-7754-9773-e0650e0cecc1
             */
            id: string;
            /**
             * @description The name of the node, from `NODE_NAME`.
             * @example gpu-2:4711
             */
            name: string;
            /**
             * @description The version of the service on the node.
             * @example 1.0.0
             */
            version: string;
            /**
             * @description The role of the node: it serves calls (`api`), runs requests (`scheduler`) or does both (`all`).
             * @example all
             */
            role: string;
            /**
             * @description `draining`: an operator drains the node. `stopping`: its process is ending. In both states it starts no runs and leaves its idle slots to other nodes. `fenced`: it has been silent for 5 s, so it has stopped its runs. `lost`: it has been silent for 6 s, so other nodes take its runs; it is listed for an hour.
             * @example ready
             * @enum {string}
             */
            state: "ready" | "draining" | "stopping" | "fenced" | "lost";
            /**
             * Format: date-time
             * @description The time at which it joined the cluster.
             * @example 2026-03-01T12:00:00.000Z
             */
            started_at: string;
            /**
             * Format: date-time
             * @description The time of its last heartbeat. There is one every 1.5 s.
             * @example 2026-03-01T12:00:00.000Z
             */
            heartbeat_at: string;
            /**
             * Format: date-time
             * @description The time at which other nodes declared it lost; null: it is not lost.
             * @example null
             */
            lost_at: string | null;
            /**
             * @description The number of runs that it had when it was declared lost. They went back to their queues or ended; null: it is not lost.
             * @example null
             */
            lost_runs: number | null;
            /**
             * Format: date-time
             * @description The time since which it starts no runs; null: it is not drained.
             * @example null
             */
            draining_since: string | null;
            /**
             * @description The number of its current runs.
             * @example 1
             */
            running: number;
            /**
             * @description The number of runs that it may have at once, of all models.
             * @example 4
             */
            slots: number;
            /** @description The models of which it has slots or runs, or which it cannot reach. */
            models: components["schemas"]["NodeModel"][];
        };
        /** @description All nodes. */
        AdminNodeList: {
            /** @description The nodes by name, then those that were lost within an hour, the last one first. */
            data: components["schemas"]["AdminNode"][];
            /**
             * @description Always null, because there is only one page.
             * @example null
             */
            next_cursor: string | null;
        };
        /** @description A node, and whether it starts runs. */
        DrainedNode: {
            /**
             * Format: uuid
             * @description The id of the node. It changes with each start of the process.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * @description The name of the node, from `NODE_NAME`.
             * @example gpu-2:4711
             */
            name: string;
            /**
             * @description The role of the node: it serves calls (`api`), runs requests (`scheduler`) or does both (`all`).
             * @example all
             */
            role: string;
            /**
             * Format: date-time
             * @description The time since which it starts no runs; null: it is not drained.
             * @example 2026-03-01T12:00:00.000Z
             */
            draining_since: string | null;
        };
        /** @description The key of the call. The call brings it directly or by a session. */
        SignedIn: {
            /**
             * Format: uuid
             * @description The id of the key.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            key_id: string;
            /**
             * @description The name of the key, or of the person it belongs to.
             * @example ops
             */
            name: string;
            /**
             * @description The scopes of the key. `admin` includes all others, `payloads` includes `observe`.
             * @example [
             *       "observe"
             *     ]
             */
            scopes: ("submit" | "read" | "cancel" | "work" | "observe" | "payloads" | "admin")[];
            /**
             * Format: uuid
             * @description The id of the session; null: the call brings the key itself.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            session_id: string | null;
            /**
             * Format: date-time
             * @description The time at which the session ends by itself, in UTC; null: there is no session.
             * @example 2030-12-31T00:00:00.000Z
             */
            expires_at: string | null;
        };
        /** @description Another way to sign in: OpenID Connect. */
        OidcOffer: {
            /**
             * @description The name of the provider.
             * @example id.example.org
             */
            name: string;
            /**
             * Format: uri
             * @description The URL at which a browser signs in.
             * @example http://127.0.0.1:3000/v1/admin/session/oidc
             */
            url: string;
        };
        /** @description The key that is signed in, and other ways to sign in. */
        Session: {
            /** @description The key of the call; null: the call brings none. */
            signed_in: components["schemas"]["SignedIn"] | null;
            /** @description The sign-in by OpenID Connect; null: it is not set up, so only keys and links sign in. */
            oidc: components["schemas"]["OidcOffer"] | null;
        };
        /** @description A key or a link, not both. */
        SignIn: {
            /**
             * @description An API key.
             * @example ns_…
             */
            key?: string;
            /**
             * @description The part after `#link=` of a link that signs in once.
             * @example p2s…
             */
            link?: string;
        };
        /** @description A browser that is signed in. */
        AdminSession: {
            /**
             * Format: uuid
             * @description The id of the session. It is no secret.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * Format: uuid
             * @description The id of the key that the session stands for.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            key_id: string;
            /**
             * @description The name of that key.
             * @example ops
             */
            name: string | null;
            /**
             * @description The address from which the session was begun.
             * @example 192.0.2.7
             */
            address: string | null;
            /**
             * @description The `User-Agent` with which the session was begun.
             * @example Mozilla/5.0
             */
            user_agent: string | null;
            /**
             * Format: date-time
             * @description The time at which it was begun, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time at which it ends by itself, in UTC.
             * @example 2026-03-02T00:00:00.000Z
             */
            expires_at: string;
            /**
             * @description True if this call uses this session.
             * @example false
             */
            is_current: boolean;
        };
        /** @description A page of active sessions, newest first. */
        AdminSessionPage: {
            /**
             * @description The `cursor` of the next page; null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description The sessions of the page. */
            data: components["schemas"]["AdminSession"][];
        };
        /** @description The rate limits of a key as they are set. */
        KeyLimitTexts: {
            /**
             * @description The limit for submissions, such as `50/s,1000/m`, or `off`; null: the limit of the service.
             * @example 50/s,1000/m
             */
            submit?: string | null;
            /**
             * @description The limit for all other calls, such as `50/s,1000/m`, or `off`; null: the limit of the service.
             * @example null
             */
            other?: string | null;
            /**
             * @description The limit for the entries of batches, such as `50/s,1000/m`, or `off`; null: the limit of the service.
             * @example null
             */
            batch?: string | null;
        };
        /** @description The number of calls that a window admits, and the number that is left. */
        KeyLimit: {
            /**
             * @description The number of calls that any window of this length admits.
             * @example 10
             */
            limit: number;
            /**
             * @description The length of the window in seconds.
             * @example 1
             */
            window_s: number;
            /**
             * @description The number of calls that are left, over all nodes. Calls that another node admitted in the last 10 s may not be counted yet.
             * @example 9
             */
            remaining: number;
            /**
             * @description Seconds until the oldest counted call leaves the window and makes room; 0: none is counted.
             * @example 1
             */
            reset_s: number;
        };
        /** @description The windows of the rate limits. All windows apply at once; an empty list means no limit. */
        KeyLimits: {
            /** @description The windows for submissions, shortest first. */
            submit: components["schemas"]["KeyLimit"][];
            /** @description The windows for all other calls. */
            other: components["schemas"]["KeyLimit"][];
            /** @description The windows for the entries of batches. */
            batch: components["schemas"]["KeyLimit"][];
        };
        /** @description A key as an operator sees it. The secret itself is never stored. */
        AdminKey: {
            /**
             * Format: uuid
             * @description The id of the key. It is no secret.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * @description The name of the key.
             * @example web shop
             */
            name: string;
            /**
             * @description The first characters of its secret.
             * @example ns_1a2b3c4
             */
            prefix: string;
            /**
             * @description The state of the key. Only a `valid` key is accepted.
             * @example valid
             * @enum {string}
             */
            state: "valid" | "revoked" | "expired";
            /**
             * @description The person that the key belongs to, by OpenID Connect: issuer and subject; null: it belongs to no such person.
             * @example null
             */
            subject: string | null;
            /**
             * @description The scopes of the key.
             * @example [
             *       "submit",
             *       "read"
             *     ]
             */
            scopes: ("submit" | "read" | "cancel" | "work" | "observe" | "payloads" | "admin")[];
            /**
             * @description The models that the key may call: ids, and patterns such as `acme/*` for all models below `acme/`; null: all models.
             * @example [
             *       "acme/*"
             *     ]
             */
            models: string[] | null;
            /** @description The rate limits of the key; null: the limits of the service. */
            limits: components["schemas"]["KeyLimitTexts"];
            /** @description The quota that is left in the limits that apply, as far as this node knows. */
            quota: components["schemas"]["KeyLimits"];
            /**
             * @description The highest priority that it may submit with.
             * @example high
             * @enum {string}
             */
            max_priority: "high" | "normal" | "low";
            /**
             * @description The number of its requests that may wait; null: unlimited.
             * @example 1000
             */
            max_waiting: number | null;
            /**
             * @description The number of its requests for one model that may run at once; null: unlimited.
             * @example 3
             */
            max_running: number | null;
            /**
             * @description The weight of its turns, where keys share a model.
             * @example 1
             */
            weight: number;
            /**
             * @description The number of its requests that wait. 10,000 means 10,000 or more.
             * @example 12
             */
            waiting: number;
            /**
             * @description The number of its requests that are running.
             * @example 3
             */
            running: number;
            /**
             * @description The number of its requests since midnight UTC. Requests that other nodes accepted count after 25 s at most.
             * @example 480
             */
            requests_today: number;
            /**
             * @description The number of its requests of today and the 29 days before, in UTC. It is as old as `requests_today`.
             * @example 12480
             */
            requests_last_30_days: number;
            /**
             * Format: date-time
             * @description The time at which it was made, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time at which it expires, in UTC; null: never.
             * @example null
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description The time at which it was revoked, in UTC; null: it is not revoked.
             * @example null
             */
            revoked_at: string | null;
            /**
             * Format: date-time
             * @description The time at which it was last used, in UTC, to the minute; null: never.
             * @example null
             */
            last_used_at: string | null;
        };
        /** @description A page of keys, newest first. */
        AdminKeyPage: {
            /**
             * @description The `cursor` of the next page; null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description The keys of the page. */
            data: components["schemas"]["AdminKey"][];
        };
        /** @description A new key. Without `scopes` it gets `submit`, `read` and `cancel`. Any other omitted member counts as null. */
        NewKey: {
            /**
             * @description The name of the key.
             * @example web shop
             */
            name: string;
            /**
             * @description The scopes of the key.
             * @example [
             *       "submit",
             *       "read"
             *     ]
             */
            scopes?: ("submit" | "read" | "cancel" | "work" | "observe" | "payloads" | "admin")[];
            /**
             * @description The models that the key may call: ids, and patterns such as `acme/*` for all models below `acme/`; null: all models.
             * @example [
             *       "acme/*"
             *     ]
             */
            models?: string[] | null;
            /** @description The rate limits of the key; null: the limits of the service. */
            limits?: components["schemas"]["KeyLimitTexts"] | null;
            /**
             * @description The highest priority of its submissions; null: high.
             * @example normal
             * @enum {string|null}
             */
            max_priority?: "high" | "normal" | "low" | null;
            /**
             * @description The number of its requests that may wait; null: unlimited.
             * @example 1000
             */
            max_waiting?: number | null;
            /**
             * @description The number of its requests for one model that may run at once; null: unlimited.
             * @example 3
             */
            max_running?: number | null;
            /**
             * @description The weight of its turns, where keys share a model; null: 1.
             * @example 1
             */
            weight?: number | null;
            /**
             * @description The expiry: a duration such as `90d`, or a time as in RFC 3339; null: never.
             * @example 90d
             */
            expires?: string | null;
            /**
             * @description The reason, for the audit.
             * @example asked for by its owner
             */
            reason?: string | null;
        };
        /** @description A new key with its secret. */
        MadeKey: {
            /**
             * Format: uuid
             * @description The id of the key. It is no secret.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * @description The name of the key.
             * @example web shop
             */
            name: string;
            /**
             * @description The first characters of its secret.
             * @example ns_1a2b3c4
             */
            prefix: string;
            /**
             * @description The state of the key. Only a `valid` key is accepted.
             * @example valid
             * @enum {string}
             */
            state: "valid" | "revoked" | "expired";
            /**
             * @description The person that the key belongs to, by OpenID Connect: issuer and subject; null: it belongs to no such person.
             * @example null
             */
            subject: string | null;
            /**
             * @description The scopes of the key.
             * @example [
             *       "submit",
             *       "read"
             *     ]
             */
            scopes: ("submit" | "read" | "cancel" | "work" | "observe" | "payloads" | "admin")[];
            /**
             * @description The models that the key may call: ids, and patterns such as `acme/*` for all models below `acme/`; null: all models.
             * @example [
             *       "acme/*"
             *     ]
             */
            models: string[] | null;
            /** @description The rate limits of the key; null: the limits of the service. */
            limits: components["schemas"]["KeyLimitTexts"];
            /** @description The quota that is left in the limits that apply, as far as this node knows. */
            quota: components["schemas"]["KeyLimits"];
            /**
             * @description The highest priority that it may submit with.
             * @example high
             * @enum {string}
             */
            max_priority: "high" | "normal" | "low";
            /**
             * @description The number of its requests that may wait; null: unlimited.
             * @example 1000
             */
            max_waiting: number | null;
            /**
             * @description The number of its requests for one model that may run at once; null: unlimited.
             * @example 3
             */
            max_running: number | null;
            /**
             * @description The weight of its turns, where keys share a model.
             * @example 1
             */
            weight: number;
            /**
             * @description The number of its requests that wait. 10,000 means 10,000 or more.
             * @example 12
             */
            waiting: number;
            /**
             * @description The number of its requests that are running.
             * @example 3
             */
            running: number;
            /**
             * @description The number of its requests since midnight UTC. Requests that other nodes accepted count after 25 s at most.
             * @example 480
             */
            requests_today: number;
            /**
             * @description The number of its requests of today and the 29 days before, in UTC. It is as old as `requests_today`.
             * @example 12480
             */
            requests_last_30_days: number;
            /**
             * Format: date-time
             * @description The time at which it was made, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time at which it expires, in UTC; null: never.
             * @example null
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description The time at which it was revoked, in UTC; null: it is not revoked.
             * @example null
             */
            revoked_at: string | null;
            /**
             * Format: date-time
             * @description The time at which it was last used, in UTC, to the minute; null: never.
             * @example null
             */
            last_used_at: string | null;
            /**
             * @description The key itself. It is shown only once.
             * @example ns_…
             */
            key: string;
        };
        /** @description A change of a key. An omitted member stays as it is; null removes what was set. */
        KeyChanges: {
            /**
             * @description The name of the key.
             * @example web shop
             */
            name?: string;
            /**
             * @description The scopes of the key.
             * @example [
             *       "submit",
             *       "read"
             *     ]
             */
            scopes?: ("submit" | "read" | "cancel" | "work" | "observe" | "payloads" | "admin")[];
            /**
             * @description The models that the key may call: ids, and patterns such as `acme/*` for all models below `acme/`; null: all models.
             * @example [
             *       "acme/*"
             *     ]
             */
            models?: string[] | null;
            /** @description The rate limits of the key; null: the limits of the service. */
            limits?: components["schemas"]["KeyLimitTexts"] | null;
            /**
             * @description The highest priority of its submissions; null: high.
             * @example normal
             * @enum {string|null}
             */
            max_priority?: "high" | "normal" | "low" | null;
            /**
             * @description The number of its requests that may wait; null: unlimited.
             * @example 1000
             */
            max_waiting?: number | null;
            /**
             * @description The number of its requests for one model that may run at once; null: unlimited.
             * @example 3
             */
            max_running?: number | null;
            /**
             * @description The weight of its turns, where keys share a model; null: 1.
             * @example 1
             */
            weight?: number | null;
            /**
             * @description The expiry: a duration such as `90d`, or a time as in RFC 3339; null: never.
             * @example 90d
             */
            expires?: string | null;
            /**
             * @description The reason, for the audit.
             * @example asked for by its owner
             */
            reason?: string | null;
        };
        /** @description The key behind the action, and where the call came from. */
        AuditActor: {
            /**
             * Format: uuid
             * @description The id of the key; null: there was none, for example at a failed sign-in or on the command line.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            key_id: string | null;
            /**
             * @description The name of the key at the time of the action.
             * @example ops
             */
            name: string;
            /**
             * Format: uuid
             * @description The session that stood for the key; null: the call brought the key itself.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            session_id: string | null;
            /**
             * @description The address of the caller.
             * @example 192.0.2.7
             */
            address: string | null;
            /**
             * @description The `User-Agent` of the call.
             * @example curl/8.5.0
             */
            user_agent: string | null;
        };
        /** @description An action of an operator, or a call that was refused. */
        AuditEntry: {
            /**
             * Format: uuid
             * @description The id of the entry; later entries have greater ids.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * Format: date-time
             * @description The time of the action, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            at: string;
            /**
             * @description The action.
             * @example key.create
             * @enum {string}
             */
            action: "model.pause" | "model.resume" | "model.concurrency" | "model.probe" | "models.reload" | "key.create" | "key.update" | "key.revoke" | "node.drain" | "node.undrain" | "worker.drain" | "worker.resume" | "worker.stop" | "request.cancel" | "request.retry" | "request.erase" | "request.delete" | "file.delete" | "payload.read" | "batch.cancel" | "operation.start" | "operation.stop" | "delivery.redeliver" | "secret.read" | "secret.rotate" | "endpoint.create" | "endpoint.update" | "endpoint.remove" | "endpoint.disable" | "endpoint.enable" | "session.begin" | "session.refuse" | "session.end" | "session.link" | "access.refuse" | "audit.export";
            /**
             * @description The target of the action: an id, or the method and path of a refused call.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            target: string | null;
            /** @description The key behind the action. */
            actor: components["schemas"]["AuditActor"];
            /**
             * @description The `X-Request-Id` of the call.
             * @example 6a1f0f0e-5b0d-4a53-9b77-6d1f6f4f2c55
             */
            http_request_id: string | null;
            /**
             * @description The changed fields before the action.
             * @example {
             *       "weight": 1
             *     }
             */
            before: {
                [key: string]: unknown;
            } | null;
            /**
             * @description The changed fields after the action, or its details.
             * @example {
             *       "weight": 2
             *     }
             */
            after: {
                [key: string]: unknown;
            } | null;
            /**
             * @description The reason that the caller gave.
             * @example web shop pays for it
             */
            reason: string | null;
        };
        /** @description A page of the audit, newest first. */
        AuditPage: {
            /**
             * @description The `cursor` of the next page; null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description The entries of the page. */
            data: components["schemas"]["AuditEntry"][];
        };
        /** @description The measured times of a request, in seconds, and what it used. */
        AnyMetrics: {
            /**
             * @description The time that the request waited. Present once it has started.
             * @example 0.042
             */
            queue_time?: number;
            /**
             * @description The time that the request ran. Present once it has completed; null: it never ran.
             * @example 2.513
             */
            inference_time?: number | null;
            /**
             * @description What the last attempt used, such as tokens: whole numbers by name. Absent if the model reports no usage.
             * @example {
             *       "prompt_tokens": 12,
             *       "completion_tokens": 48
             *     }
             */
            usage?: {
                [key: string]: number;
            };
        };
        /** @description A request of any key, as operators see it. Without the scope `payloads`, its ids are handles, which only `/v1/admin` accepts. Of what its caller and its model wrote, it then has only the tags and the message of its error. */
        AnyRequest: {
            /**
             * @description The id of the request, or its handle without the scope `payloads`.
             * @example rh_Zm9vYmFyYmF6cXV4LTAxMg
             */
            request_id: string;
            /**
             * @description The handle of the request, as the log and the audit show it.
             * @example rh_Zm9vYmFyYmF6cXV4LTAxMg
             */
            handle: string;
            /**
             * @description The state of the request.
             * @example COMPLETED
             * @enum {string}
             */
            status: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED";
            /**
             * @description The outcome of the request; null: it has not completed.
             * @example failed
             * @enum {string|null}
             */
            outcome: "succeeded" | "failed" | "cancelled" | "expired" | null;
            /**
             * @description The model of the request.
             * @example demo/image/fractal
             */
            model_id: string;
            /** @description The key that submitted it. */
            key: components["schemas"]["KeyName"];
            /**
             * @description The name of the node or worker that runs it or ran it last; null: it has not started.
             * @example gpu-2
             */
            node: string | null;
            /**
             * @description The priority of the request.
             * @example normal
             * @enum {string}
             */
            priority: "high" | "normal" | "low";
            /**
             * Format: date-time
             * @description The time at which it was submitted.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time at which its last attempt started; null: none has started.
             * @example null
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description The time at which it completed; null: it has not completed.
             * @example null
             */
            completed_at: string | null;
            /**
             * @description The current, next or last attempt.
             * @example 1
             */
            attempt: number;
            /**
             * @description The tags of its submission.
             * @example [
             *       "job:17"
             *     ]
             */
            tags: string[];
            /** @description The times measured so far. */
            metrics: components["schemas"]["AnyMetrics"];
            /** @description The number of requests that start before it. Present while it waits. */
            queue_position?: number;
            /**
             * @description The reason for which it waits. Present while it waits.
             * @enum {string}
             */
            reason?: "busy" | "unavailable" | "paused" | "scheduled" | "retrying";
            /** @description The same estimate as in the status that its caller reads. */
            estimated_start?: components["schemas"]["TimeSpan"];
            /** @description The same estimate as in the status that its caller reads. */
            estimated_end?: components["schemas"]["TimeSpan"];
            /** @description The progress of its run. Its message is null without the scope `payloads`. */
            progress?: components["schemas"]["Progress"];
            /** @description True if it succeeded. Present once it has completed. */
            success?: boolean;
            /** @description The error of a request that did not succeed. Its message may be the model’s own. */
            error?: components["schemas"]["RequestError"] | null;
            /**
             * Format: date-time
             * @description The time at which it joins or joined the queue, if its submission set one.
             */
            scheduled_at?: string;
            /** @description The request that this one repeats. */
            retry_of?: string;
            /** @description The request that repeats this one. */
            retried_as?: string;
            /**
             * Format: date-time
             * @description The time at which its content was erased.
             */
            erased_at?: string;
            /**
             * @description The media type of the first picture in its output, if there is one. Present only with the scope `payloads`.
             * @example image/png
             */
            output_type?: string | null;
        };
        /** @description The failures of one model that have the same code and status. */
        FailureCount: {
            /**
             * @description The model.
             * @example demo/image/fractal
             */
            model_id: string;
            /**
             * @description The code of the error.
             * @example model_error
             */
            code: string;
            /**
             * @description The number of such failures among the counted requests.
             * @example 12
             */
            count: number;
            /**
             * @description The message of the newest one.
             * @example The model answered 500: no memory
             */
            message: string | null;
            /**
             * Format: date-time
             * @description The time at which the newest one completed.
             * @example 2026-03-01T12:00:00.000Z
             */
            last_at: string;
        };
        /** @description The number of requests that match, and the causes of the failed ones. */
        FoundCount: {
            /**
             * @description The count, at most 10,000.
             * @example 312
             */
            value: number;
            /**
             * @description false: there are at least this many.
             * @example true
             */
            is_exact: boolean;
            /** @description The causes, with `outcome=failed`: by model and code, most frequent first, at most 20. */
            failures?: components["schemas"]["FailureCount"][];
        };
        /** @description A page of the requests of all keys. */
        AnyRequestPage: {
            /**
             * @description The `cursor` of the next page; null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description The requests, newest first. A page may be short or empty although `next_cursor` is not null. */
            data: components["schemas"]["AnyRequest"][];
            /** @description The number of requests that match. Only on the first page. */
            count?: components["schemas"]["FoundCount"];
        };
        /** @description A request of any key, with the sizes of its payloads. */
        AnyRequestDetails: {
            /**
             * @description The id of the request, or its handle without the scope `payloads`.
             * @example rh_Zm9vYmFyYmF6cXV4LTAxMg
             */
            request_id: string;
            /**
             * @description The handle of the request, as the log and the audit show it.
             * @example rh_Zm9vYmFyYmF6cXV4LTAxMg
             */
            handle: string;
            /**
             * @description The state of the request.
             * @example COMPLETED
             * @enum {string}
             */
            status: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED";
            /**
             * @description The outcome of the request; null: it has not completed.
             * @example failed
             * @enum {string|null}
             */
            outcome: "succeeded" | "failed" | "cancelled" | "expired" | null;
            /**
             * @description The model of the request.
             * @example demo/image/fractal
             */
            model_id: string;
            /** @description The key that submitted it. */
            key: components["schemas"]["KeyName"];
            /**
             * @description The name of the node or worker that runs it or ran it last; null: it has not started.
             * @example gpu-2
             */
            node: string | null;
            /**
             * @description The priority of the request.
             * @example normal
             * @enum {string}
             */
            priority: "high" | "normal" | "low";
            /**
             * Format: date-time
             * @description The time at which it was submitted.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time at which its last attempt started; null: none has started.
             * @example null
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description The time at which it completed; null: it has not completed.
             * @example null
             */
            completed_at: string | null;
            /**
             * @description The current, next or last attempt.
             * @example 1
             */
            attempt: number;
            /**
             * @description The tags of its submission.
             * @example [
             *       "job:17"
             *     ]
             */
            tags: string[];
            /** @description The times measured so far. */
            metrics: components["schemas"]["AnyMetrics"];
            /** @description The number of requests that start before it. Present while it waits. */
            queue_position?: number;
            /**
             * @description The reason for which it waits. Present while it waits.
             * @enum {string}
             */
            reason?: "busy" | "unavailable" | "paused" | "scheduled" | "retrying";
            /** @description The same estimate as in the status that its caller reads. */
            estimated_start?: components["schemas"]["TimeSpan"];
            /** @description The same estimate as in the status that its caller reads. */
            estimated_end?: components["schemas"]["TimeSpan"];
            /** @description The progress of its run. Its message is null without the scope `payloads`. */
            progress?: components["schemas"]["Progress"];
            /** @description True if it succeeded. Present once it has completed. */
            success?: boolean;
            /** @description The error of a request that did not succeed. Its message may be the model’s own. */
            error?: components["schemas"]["RequestError"] | null;
            /**
             * Format: date-time
             * @description The time at which it joins or joined the queue, if its submission set one.
             */
            scheduled_at?: string;
            /** @description The request that this one repeats. */
            retry_of?: string;
            /** @description The request that repeats this one. */
            retried_as?: string;
            /**
             * Format: date-time
             * @description The time at which its content was erased.
             */
            erased_at?: string;
            /**
             * @description The media type of the first picture in its output, if there is one. Present only with the scope `payloads`.
             * @example image/png
             */
            output_type?: string | null;
            /**
             * @description The size of the input in bytes of JSON; null: there is none, or it was deleted.
             * @example 42
             */
            input_bytes: number | null;
            /**
             * @description The size of the output in bytes of JSON; null: there is none, or it was deleted.
             * @example 31457280
             */
            output_bytes: number | null;
            /**
             * @description The number of requests of its key that may run for the model at once. Present while that number is reached and the request waits for it.
             * @example 2
             */
            held_at?: number;
        };
        /** @description An event in the life of a request. */
        LifeEvent: {
            /**
             * @description The number of the event in their order; 0: the submission.
             * @example 0
             */
            id: number;
            /**
             * Format: date-time
             * @description The time of the event.
             * @example 2026-03-01T12:00:00.000Z
             */
            at: string;
            /**
             * @description The kind of event.
             * @example started
             * @enum {string}
             */
            kind: "submitted" | "started" | "requeued" | "cancel_requested" | "completed";
            /**
             * @description The number of the attempt that the event belongs to.
             * @example 1
             */
            attempt: number;
            /**
             * @description The name of the node or worker that ran the attempt.
             * @example gpu-2
             */
            node: string | null;
            /**
             * @description The outcome of the run, or of the request if it ended while it waited; null: nothing ended.
             * @example lost
             * @enum {string|null}
             */
            outcome: "succeeded" | "failed" | "timed_out" | "cancelled" | "expired" | "returned" | "lost" | "unreached" | null;
            /**
             * @description The code of the error.
             * @example model_error
             * @enum {string|null}
             */
            code: "bad_request" | "invalid_json" | "invalid_query" | "invalid_upload" | "not_completed" | "already_completed" | "missing_key" | "invalid_key" | "sign_in_refused" | "forbidden" | "invalid_upload_url" | "rate_limited" | "not_found" | "unknown_model" | "unknown_id" | "unknown_request" | "unknown_file" | "unknown_operation" | "batch_not_found" | "method_not_allowed" | "conflict" | "batch_ended" | "claim_conflict" | "gone" | "lease_lost" | "worker_stopped" | "changed_meanwhile" | "body_too_large" | "too_large" | "unsupported_encoding" | "range_not_satisfiable" | "invalid_input" | "input_file_not_found" | "invalid_models_file" | "idempotency_key_reused" | "invalid_idempotency_key" | "cancelled" | "too_slow" | "caller_busy" | "queue_full" | "worker_resting" | "internal_error" | "model_error" | "model_unavailable" | "node_lost" | "worker_lost" | "unavailable" | "overloaded" | "model_paused" | "timed_out" | "expired" | "storage_full" | null;
            /**
             * @description The message of the error, in the model’s own words if the model gave one.
             * @example The model answered 500: no memory
             */
            message: string | null;
            /**
             * Format: date-time
             * @description The time at which that run ended.
             * @example null
             */
            ended_at: string | null;
            /**
             * Format: date-time
             * @description After a requeue, the time at which the pause before the next attempt ends or ended; null: there was no pause.
             * @example null
             */
            until: string | null;
        };
        /** @description A position, and the time since which the request had it. */
        PositionPoint: {
            /**
             * Format: date-time
             * @description The time since which the request had this position.
             * @example 2026-03-01T12:00:00.000Z
             */
            at: string;
            /**
             * @description The number of requests that were to start before it.
             * @example 12
             */
            position: number;
        };
        /** @description The events of a request, oldest first, without its log. */
        Life: {
            /** @description The events, oldest first. */
            data: components["schemas"]["LifeEvent"][];
            /** @description How the request moved up, in at most 60 points. Only requests that are still kept count. Empty if the calculation would cost too much. */
            positions: components["schemas"]["PositionPoint"][];
        };
        /** @description A line of the log of a request. */
        AnyLogEntry: {
            /**
             * @description The text of the entry.
             * @example Drawing line 120 of 512
             */
            message: string;
            /**
             * @description The severity of the entry.
             * @example INFO
             * @enum {string}
             */
            level: "DEBUG" | "INFO" | "WARN" | "ERROR";
            /**
             * @description The origin of the entry: the queue, the runner, or an output stream of the model.
             * @example runner
             * @enum {string}
             */
            source: "queue" | "runner" | "stdout" | "stderr";
            /**
             * Format: date-time
             * @description The time of the entry, in UTC with milliseconds.
             * @example 2026-03-01T12:00:01.250Z
             */
            timestamp: string;
            /**
             * @description The number of the entry in their order.
             * @example 17
             */
            id: number;
            /**
             * @description The number of the attempt that wrote the entry.
             * @example 1
             */
            attempt: number;
        };
        /** @description A page of a log. */
        AnyLogPage: {
            /**
             * @description The `cursor` of the next page; null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description The entries, oldest first, at most 1,000. */
            data: components["schemas"]["AnyLogEntry"][];
        };
        /** @description An action on many requests, and its progress. */
        Operation: {
            /**
             * Format: uuid
             * @description The id of the operation.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * @description The action on each request.
             * @example cancel
             * @enum {string}
             */
            action: "cancel" | "retry" | "erase";
            /**
             * @description The state of the operation. `collecting`: its requests are being found.
             * @example running
             * @enum {string}
             */
            state: "collecting" | "running" | "stopping" | "stopped" | "done";
            /**
             * @description The filter of the operation. `ids` is the number of ids; `id_prefix` is shown only with the scope `payloads`.
             * @example {
             *       "tag": [
             *         "job:17"
             *       ]
             *     }
             */
            filter: {
                [key: string]: unknown;
            };
            /**
             * @description The number of requests that matched when the operation started. While it is `collecting`, the number found so far.
             * @example 312
             */
            total: number;
            /**
             * @description The number of requests that are done.
             * @example 200
             */
            done: number;
            /**
             * @description The number of requests that no longer qualified when their turn came.
             * @example 2
             */
            skipped: number;
            /**
             * @description The number of requests for which the action failed.
             * @example 0
             */
            failed: number;
            /**
             * @description The error of the last request for which the action failed.
             * @example null
             */
            last_error: string | null;
            /**
             * @description The reason that the caller gave.
             * @example null
             */
            reason: string | null;
            /**
             * @description The name of the key that started it.
             * @example ops
             */
            by: string;
            /**
             * Format: date-time
             * @description The time at which it was started.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time at which it ended.
             * @example null
             */
            ended_at: string | null;
        };
        /** @description A page of operations. */
        OperationPage: {
            /**
             * @description The `cursor` of the next page; null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description The operations, newest first. */
            data: components["schemas"]["Operation"][];
        };
        /** @description A filter of the requests of all keys. A request must match every filter that is given. */
        AnyRequestFilter: {
            /**
             * @description Only requests of this model.
             * @example demo/image/fractal
             */
            model_id?: string;
            /**
             * @description Only requests in this state.
             * @example COMPLETED
             * @enum {string}
             */
            status?: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED";
            /**
             * @description Only requests with this outcome.
             * @example failed
             * @enum {string}
             */
            outcome?: "succeeded" | "failed" | "cancelled" | "expired";
            /**
             * @description One tag `key:value`, or several that a request must all have.
             * @example job:17
             */
            tag?: string | string[];
            /**
             * Format: date-time
             * @description RFC 3339: only requests submitted at this time or later.
             */
            created_after?: string;
            /**
             * Format: date-time
             * @description RFC 3339: only requests submitted before this time.
             */
            created_before?: string;
            /**
             * Format: uuid
             * @description Only requests of this key.
             */
            key_id?: string;
            /**
             * @description Only requests that failed with this code.
             * @example model_error
             */
            code?: string;
            /**
             * @description Only requests that run or ran on the node or worker of this name.
             * @example gpu-2
             */
            node?: string;
            /**
             * @description Only requests whose id begins with this prefix. Without the scope `payloads` it must be a whole handle, `rh_…`.
             * @example 0198f3c2
             */
            id_prefix?: string;
            /** @description Only these requests: ids or handles. */
            ids?: string[];
        };
        /** @description An action on all requests that match a filter. */
        StartOperation: {
            /**
             * @description The action on each request.
             * @example cancel
             * @enum {string}
             */
            action: "cancel" | "retry" | "erase";
            /** @description The filters of the list. A request must match every filter that is given. */
            filter?: components["schemas"]["AnyRequestFilter"];
            /**
             * @description true: an empty filter means every request.
             * @default false
             */
            all?: boolean;
            /**
             * @description true: only counts the requests, and shows three.
             * @default false
             */
            validate_only?: boolean;
            /**
             * @description The reason, for the audit.
             * @example asked for by its owner
             */
            reason?: string | null;
        };
        /** @description A count of at most 10,000. */
        BoundedCount: {
            /**
             * @description The count, at most 10,000.
             * @example 312
             */
            value: number;
            /**
             * @description false: there are at least this many.
             * @example true
             */
            is_exact: boolean;
        };
        /** @description The requests that an operation would cover. */
        OperationPreview: {
            /** @description The number of requests. */
            count: components["schemas"]["BoundedCount"];
            /** @description The newest three requests. */
            sample: components["schemas"]["AnyRequest"][];
        };
        /** @description A line that keeps its batch from starting. */
        AdminBatchFault: {
            /**
             * @description The number of the line in the input, from 1 on; null: the whole input is at fault.
             * @example 3
             */
            line: number | null;
            /**
             * @description The stable name of the kind of problem: a code of problems, or `duplicate_custom_id`.
             * @example bad_request
             */
            code: string;
            /**
             * @description A description of the problem, which may quote the line; null without the scope `payloads`.
             * @example A line needs a "custom_id", a text.
             */
            message: string | null;
        };
        /** @description A batch of any key at one moment. Its counts are exact. */
        AdminBatch: {
            /**
             * Format: uuid
             * @description The id of the batch. Its requests have the tag `batch:<batch_id>`.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            batch_id: string;
            /**
             * @description `validating`: its input is checked. `in_progress`: its lines run. `finalizing`: the last lines are written to its files. `completed`: all lines are done, whether they failed or not. `failed`: its input is not valid, and nothing was submitted. `expired`: its time was over. `cancelling`, then `cancelled`: a call has cancelled it.
             * @example in_progress
             * @enum {string}
             */
            status: "validating" | "in_progress" | "finalizing" | "completed" | "failed" | "expired" | "cancelling" | "cancelled";
            /**
             * @description The model of lines that name none.
             * @example demo/text/echo
             */
            model_id: string | null;
            /**
             * @description Its tag.
             * @example null
             */
            tag: string | null;
            /**
             * @description The priority of its requests.
             * @example low
             * @enum {string}
             */
            priority: "high" | "normal" | "low";
            /**
             * Format: date-time
             * @description The time at which it was made.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time at which its input was found to be valid.
             * @example 2026-03-01T12:00:00.000Z
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description The time at which it ended.
             * @example null
             */
            ended_at: string | null;
            /**
             * Format: date-time
             * @description The time at which lines that are not done expire.
             * @example 2026-03-02T12:00:00.000Z
             */
            expires_at: string;
            /** @description Its lines, by what has become of them. */
            counts: components["schemas"]["BatchLineCounts"];
            /** @description The key that made the batch. */
            key: components["schemas"]["KeyName"];
            /**
             * @description The API that made it: `own`, or the name of an adapter.
             * @example own
             */
            format: string;
            /**
             * Format: date-time
             * @description The time at which a call cancelled it.
             * @example null
             */
            cancelling_at: string | null;
            /** @description Why it failed: at most the first hundred faults. */
            errors: components["schemas"]["AdminBatchFault"][];
            /**
             * @description The bytes of its output that are stored so far.
             * @example 482130
             */
            output_bytes: number;
            /**
             * @description The bytes of its errors that are stored so far.
             * @example 0
             */
            error_bytes: number;
        };
        /** @description A page of batches of all keys. */
        AdminBatchPage: {
            /**
             * @description The `cursor` of the next page; null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description The batches, newest first. */
            data: components["schemas"]["AdminBatch"][];
        };
        /** @description The notification of one receiver about one event of a request of any key. Without the scope `payloads` it has handles in place of ids and no queries of URLs. Of the receiver’s answer it then has only the status. */
        AnyDelivery: {
            /**
             * @description The name of the delivery in `/v1/admin/deliveries`.
             * @example rh_Zm9vYmFyYmF6cXV4LTAxMg.7d1b5a0e-2c64-4a8e-9f35-0b6c1d2e3f40
             */
            id: string;
            /**
             * Format: uuid
             * @description The `webhook-id` that each try sends.
             * @example 7d1b5a0e-2c64-4a8e-9f35-0b6c1d2e3f40
             */
            message_id: string;
            /**
             * @description The id of the request, or its handle without the scope `payloads`.
             * @example rh_Zm9vYmFyYmF6cXV4LTAxMg
             */
            request_id: string;
            /**
             * @description The model of the request; null: the request was deleted.
             * @example demo/image/fractal
             */
            model_id: string | null;
            /** @description The key that submitted the request. */
            key: components["schemas"]["KeyName"];
            /**
             * Format: uuid
             * @description The endpoint of the key; null: the request itself named the URL.
             * @example null
             */
            webhook_id: string | null;
            /**
             * @description The type of the event. A later release may have more types.
             * @example request.completed
             */
            event: string;
            /**
             * @description The URL of the receiver.
             * @example https://example.org/hook
             */
            url: string;
            /**
             * @description The state of the delivery, as in the list of its request.
             * @example failed
             * @enum {string}
             */
            state: "pending" | "delivered" | "failed" | "ended";
            /** @description The last 100 tries, oldest first. */
            tries: components["schemas"]["WebhookTry"][];
            /**
             * Format: date-time
             * @description The time of the next try; null: the delivery is not pending.
             * @example null
             */
            next_try_at: string | null;
            /**
             * Format: date-time
             * @description The time of the event, at which the delivery was made.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
        };
        /** @description A page of deliveries. */
        AnyDeliveryPage: {
            /**
             * @description The `cursor` of the next page; null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description The deliveries, those of the newest requests first. A page may be short or empty although `next_cursor` is not null. */
            data: components["schemas"]["AnyDelivery"][];
        };
        /** @description A receiver of webhooks: an endpoint of a key, or a host of URLs that requests named. */
        Receiver: {
            /**
             * Format: uuid
             * @description The id of the endpoint; null: the receiver is a host.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string | null;
            /**
             * @description The URL of the endpoint; null: the receiver is a host.
             * @example https://example.org/hook
             */
            url: string | null;
            /**
             * @description The host, with its port if the URL has one. Empty if the host cannot be read from the URL.
             * @example example.org
             */
            host: string;
            /** @description The key of the endpoint; null: the receiver is a host. */
            key: components["schemas"]["KeyName"] | null;
            /**
             * @description The events that the endpoint gets; null: the receiver is a host.
             * @example [
             *       "request.completed"
             *     ]
             */
            events: string[] | null;
            /**
             * Format: date-time
             * @description The time since which it gets no new deliveries, because an operator disabled it or it answered 410.
             * @example null
             */
            disabled_at: string | null;
            /**
             * @description The number of pending deliveries.
             * @example 3
             */
            pending: number;
            /**
             * @description false: there are at least this many.
             * @example true
             */
            is_pending_exact: boolean;
            /**
             * @description The number of deliveries that succeeded in the last 24 hours.
             * @example 1204
             */
            delivered_last_day: number;
            /**
             * @description The number of deliveries given up in the last 24 hours: no tries were left, or the receiver answered 410.
             * @example 0
             */
            failed_last_day: number;
            /**
             * @description The number of tries that failed in the last 24 hours.
             * @example 7
             */
            failed_tries_last_day: number;
            /**
             * @description The status of its last answer; null: the last try got no answer, or there was no try for a week.
             * @example 503
             */
            last_status: number | null;
            /**
             * @description The reason for which the last try got no answer.
             * @example null
             */
            last_error: string | null;
            /**
             * Format: date-time
             * @description The time of the last try.
             * @example 2026-03-01T12:00:00.000Z
             */
            last_at: string | null;
            /**
             * Format: date-time
             * @description The time of the next try; null: nothing is pending.
             * @example null
             */
            next_try_at: string | null;
        };
        /** @description A page of receivers. */
        ReceiverPage: {
            /**
             * @description The `cursor` of the next page; null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /** @description The endpoints of keys, newest first, then the hosts that requests named, by name. */
            data: components["schemas"]["Receiver"][];
        };
        /** @description Disables or enables an endpoint. */
        ChangeEndpoint: {
            /**
             * @description true: requests that complete from now on are not sent to it.
             * @example true
             */
            disabled: boolean;
            /**
             * @description The reason, for the audit.
             * @example asked for by its owner
             */
            reason?: string | null;
        };
        /** @description The models that a model shares slots with. */
        ModelGroup: {
            /**
             * @description The name of the group.
             * @example gpu-0
             */
            id: string;
            /**
             * @description The number of runs of all its models that may be in progress at once in total.
             * @example 1
             */
            concurrency: number;
            /**
             * @description The number of seconds for which a model that has begun to run goes first while it has requests; 0: the longest wait always goes first.
             * @example 30
             */
            stay_s: number;
        };
        /** @description The slots that a model keeps for a priority and those above it. */
        ModelReserve: {
            /**
             * @description The number of slots that only requests of high priority may use.
             * @example 1
             */
            high: number;
            /**
             * @description The number of slots besides those that only requests of normal priority or above may use.
             * @example 0
             */
            normal: number;
        };
        /** @description Percentiles of the newest successes within the last hour, in seconds. */
        TypicalTime: {
            /**
             * @description Half of them took at most this long.
             * @example 2.5
             */
            p50: number;
            /**
             * @description 95 % of them took at most this long.
             * @example 4.25
             */
            p95: number;
        };
        /** @description A model that the key may call, and its load. */
        Model: {
            /**
             * @description The id of the model; submit with `POST /v1/queue/<id>`.
             * @example demo/image/fractal
             */
            id: string;
            /**
             * @description The operator’s description of the model.
             * @example Draws a fractal.
             */
            description: string;
            /**
             * @description The JSON Schema (draft 2020-12) of its input; null: any JSON object.
             * @example {
             *       "type": "object",
             *       "required": [
             *         "prompt"
             *       ],
             *       "properties": {
             *         "prompt": {
             *           "type": "string"
             *         }
             *       }
             *     }
             */
            input_schema: {
                [key: string]: unknown;
            } | null;
            /**
             * @description The number of its runs that may be in progress at once in total; null: as many as workers claim.
             * @example 2
             */
            concurrency: number | null;
            /** @description The group whose slots it shares; null: its slots are its own. */
            group: components["schemas"]["ModelGroup"] | null;
            /** @description The slots that it keeps for a priority and those above it. */
            reserve: components["schemas"]["ModelReserve"];
            /**
             * @description The number of workers that claim its runs, some seconds old; null: nodes run it.
             * @example null
             */
            workers: number | null;
            /**
             * @description The number of requests in its queue, without those that are scheduled for later.
             * @example 3
             */
            waiting: number;
            /**
             * @description The number of its runs on all nodes and workers, up to 1 s old.
             * @example 2
             */
            running: number;
            /**
             * @description The sum of `waiting` and `running`, for autoscalers.
             * @example 5
             */
            load: number;
            /**
             * @description The wait of the longest-waiting request, in seconds; null: none waits.
             * @example 12.75
             */
            oldest_wait_s: number | null;
            /** @description The duration of a run; null: too little is known. */
            run_time: components["schemas"]["TypicalTime"] | null;
            /** @description The wait of a request for its first run; null: too little is known. */
            queue_time: components["schemas"]["TypicalTime"] | null;
            /**
             * @description The availability of the model. While it is `unavailable` (not reachable) or `paused`, requests wait and can be submitted.
             * @example available
             * @enum {string}
             */
            availability: "available" | "unavailable" | "paused";
            /**
             * Format: date-time
             * @description While it is `unavailable`: the time of the next probe, before which it does not become available; null: it is available, or the time is unknown.
             * @example null
             */
            next_probe_at: string | null;
        };
        /** @description The models that the key may call. */
        ModelList: {
            /** @description The models, in the order of the models file. */
            data: components["schemas"]["Model"][];
            /**
             * Format: uri
             * @description A description of the API for generators of clients. It does not name today’s models, so a client made from it takes those that appear later.
             * @example http://127.0.0.1:3000/v1/openapi.json
             */
            openapi_url: string;
        };
        /** @description How much of a resource the key holds, and how much it may hold. */
        Allowance: {
            /**
             * @description The amount that it holds now.
             * @example 2
             */
            used: number;
            /**
             * @description The maximum that it may hold.
             * @example 1000
             */
            max: number;
        };
        /** @description The files of the key, and how many it may have. */
        StoredAllowance: {
            /**
             * @description The stored bytes of its files, including files that its requests made.
             * @example 48213
             */
            bytes: number;
            /**
             * @description The number of its files, including those that are announced but not uploaded yet.
             * @example 3
             */
            files: number;
            /**
             * @description The maximum of stored bytes. At the maximum, further uploads are answered 507 `storage_full`.
             * @example 21474836480
             */
            max_bytes: number;
            /**
             * @description The maximum of files. At the maximum, further uploads are answered 507 `storage_full`.
             * @example 100000
             */
            max_files: number;
        };
        /** @description The resources that the key holds, and their maxima. Bytes in memory and streams are those of the node that answers; each node counts its own. */
        KeyAllowances: {
            /** @description Bytes in memory: decompressed bodies, and answers that the client has not read yet. */
            bytes: components["schemas"]["Allowance"];
            /** @description Open streams and long polls (`Prefer: wait`). */
            streams: components["schemas"]["Allowance"];
            /** @description Stored files, over all nodes. */
            stored: components["schemas"]["StoredAllowance"];
        };
        /** @description The rights and limits of the API key of the call. */
        Key: {
            /**
             * Format: uuid
             * @description The id of the key. It is no secret.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * @description The name that the operator gave the key.
             * @example web shop
             */
            name: string;
            /**
             * @description `submit` allows submissions; `read` allows statuses, streams, responses and models; `cancel` allows cancelling; `work` allows running requests of the key’s models.
             * @example [
             *       "submit",
             *       "read",
             *       "cancel",
             *       "work",
             *       "observe",
             *       "payloads",
             *       "admin"
             *     ]
             */
            scopes: ("submit" | "read" | "cancel" | "work" | "observe" | "payloads" | "admin")[];
            /**
             * @description The models that the key may call: ids, and patterns such as `acme/*` for all models below `acme/`; null: all models.
             * @example [
             *       "acme/*"
             *     ]
             */
            models: string[] | null;
            /** @description The rate limits of the key. */
            limits: components["schemas"]["KeyLimits"];
            /** @description The resources that the key holds, and their maxima. */
            allowances: components["schemas"]["KeyAllowances"];
            /**
             * @description The highest priority that it may submit with.
             * @example high
             * @enum {string}
             */
            max_priority: "high" | "normal" | "low";
            /**
             * @description The number of its requests that may wait; null: unlimited.
             * @example 1000
             */
            max_waiting: number | null;
            /**
             * @description The number of its requests for one model that may run at once; null: unlimited.
             * @example 3
             */
            max_running: number | null;
            /**
             * @description The weight of its turns, where keys share a model.
             * @example 1
             */
            weight: number;
            /**
             * Format: date-time
             * @description The time at which it expires, in UTC; null: never.
             * @example 2030-12-31T00:00:00.000Z
             */
            expires_at: string | null;
            /**
             * @description The secret with which the webhooks of the key are signed, as in Standard Webhooks. During a rotation it is the new secret. Present only with the scope `submit`.
             * @example whsec_bm90IGEgc2VjcmV0LCBqdXN0IGFuIGV4YW1wbGUhISE=
             */
            webhook_secret?: string;
        };
        /** @description The file as it was stored. */
        StoredFile: {
            /**
             * @description The size in bytes.
             * @example 48213
             */
            size: number;
            /**
             * @description The SHA-256 of the bytes, in hexadecimal. It is also the ETag.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            sha256: string;
        };
        /** @description The process answers. */
        Liveness: {
            /**
             * @description Always `ok`, because the answer itself is the result.
             * @example ok
             * @enum {string}
             */
            status: "ok";
        };
        /** @description A check of readiness. */
        ReadinessCheck: {
            /**
             * @description The result of the check.
             * @example up
             * @enum {string}
             */
            status: "up" | "down";
        };
        /** @description All checks of readiness. */
        ReadinessChecks: {
            /** @description The database answers within two seconds. */
            database: components["schemas"]["ReadinessCheck"];
            /** @description The schema is the one that this version needs. */
            migrations: components["schemas"]["ReadinessCheck"];
            /** @description This node can read the stored files, or there are none. The disk of DATA_DIR answers. */
            files: components["schemas"]["ReadinessCheck"];
            /** @description The disk of the database accepts writes, and that of an embedded database has enough free space. */
            storage: components["schemas"]["ReadinessCheck"];
            /** @description The service is not shutting down. */
            accepting: components["schemas"]["ReadinessCheck"];
        };
        /** @description The service can take requests. */
        Readiness: {
            /**
             * @description Always `ok`. A service that is not ready answers 503.
             * @example ok
             * @enum {string}
             */
            status: "ok";
            /** @description The checks. */
            checks: components["schemas"]["ReadinessChecks"];
            /**
             * @description Faults that do not prevent requests, for example that no node runs them. Absent: there are none.
             * @example [
             *       "No node runs requests, so they wait. Start one with ROLE=all or ROLE=scheduler, or end a drain."
             *     ]
             */
            notes?: string[];
        };
        /** @description An error, as in RFC 9457. Clients decide by `code`, which is stable. */
        Problem: {
            /**
             * Format: uri-reference
             * @description The kind of problem, as the URL of its description.
             * @example /docs/errors#unknown_request
             */
            type: string;
            /**
             * @description The kind of problem in words. It is the same for every problem of the kind.
             * @example No such request
             */
            title: string;
            /**
             * @description The HTTP status of the answer.
             * @example 404
             */
            status: number;
            /**
             * @description A description of this problem.
             * @example There is no request 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.
             */
            detail: string;
            /**
             * Format: uri-reference
             * @description The path of the call. Empty if the call was not valid HTTP.
             * @example /v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            instance: string;
            /**
             * @description The stable name of the kind of problem.
             * @example unknown_request
             * @enum {string}
             */
            code: "bad_request" | "invalid_json" | "invalid_query" | "invalid_upload" | "not_completed" | "already_completed" | "missing_key" | "invalid_key" | "sign_in_refused" | "forbidden" | "invalid_upload_url" | "rate_limited" | "not_found" | "unknown_model" | "unknown_id" | "unknown_request" | "unknown_file" | "unknown_operation" | "batch_not_found" | "method_not_allowed" | "conflict" | "batch_ended" | "claim_conflict" | "gone" | "lease_lost" | "worker_stopped" | "changed_meanwhile" | "body_too_large" | "too_large" | "unsupported_encoding" | "range_not_satisfiable" | "invalid_input" | "input_file_not_found" | "invalid_models_file" | "idempotency_key_reused" | "invalid_idempotency_key" | "cancelled" | "too_slow" | "caller_busy" | "queue_full" | "worker_resting" | "internal_error" | "model_error" | "model_unavailable" | "node_lost" | "worker_lost" | "unavailable" | "overloaded" | "model_paused" | "timed_out" | "expired" | "storage_full";
            /**
             * Format: date-time
             * @description The time of the problem, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            timestamp: string;
            /** @description With `invalid_input`: every place that does not fit the schema of the model. */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description The model’s own error, as any JSON value.
             * @example {
             *       "reason": "the prompt was refused"
             *     }
             */
            details?: components["schemas"]["JsonValue"];
        };
        /** @description A `Problem` with the result of a cancellation. The other answers of a cancellation have the result in `status`; here `status` is the HTTP status (RFC 9457). */
        AlreadyCompletedProblem: {
            /**
             * Format: uri-reference
             * @description The kind of problem, as the URL of its description.
             * @example /docs/errors#unknown_request
             */
            type: string;
            /**
             * @description The kind of problem in words. It is the same for every problem of the kind.
             * @example No such request
             */
            title: string;
            /**
             * @description The HTTP status of the answer.
             * @example 404
             */
            status: number;
            /**
             * @description A description of this problem.
             * @example There is no request 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.
             */
            detail: string;
            /**
             * Format: uri-reference
             * @description The path of the call. Empty if the call was not valid HTTP.
             * @example /v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            instance: string;
            /**
             * @description The stable name of the kind of problem.
             * @example unknown_request
             * @enum {string}
             */
            code: "bad_request" | "invalid_json" | "invalid_query" | "invalid_upload" | "not_completed" | "already_completed" | "missing_key" | "invalid_key" | "sign_in_refused" | "forbidden" | "invalid_upload_url" | "rate_limited" | "not_found" | "unknown_model" | "unknown_id" | "unknown_request" | "unknown_file" | "unknown_operation" | "batch_not_found" | "method_not_allowed" | "conflict" | "batch_ended" | "claim_conflict" | "gone" | "lease_lost" | "worker_stopped" | "changed_meanwhile" | "body_too_large" | "too_large" | "unsupported_encoding" | "range_not_satisfiable" | "invalid_input" | "input_file_not_found" | "invalid_models_file" | "idempotency_key_reused" | "invalid_idempotency_key" | "cancelled" | "too_slow" | "caller_busy" | "queue_full" | "worker_resting" | "internal_error" | "model_error" | "model_unavailable" | "node_lost" | "worker_lost" | "unavailable" | "overloaded" | "model_paused" | "timed_out" | "expired" | "storage_full";
            /**
             * Format: date-time
             * @description The time of the problem, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            timestamp: string;
            /** @description With `invalid_input`: every place that does not fit the schema of the model. */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description The model’s own error, as any JSON value.
             * @example {
             *       "reason": "the prompt was refused"
             *     }
             */
            details?: components["schemas"]["JsonValue"];
            /**
             * @description The result of the cancellation. Always the same.
             * @example ALREADY_COMPLETED
             * @enum {string}
             */
            cancel_status: "ALREADY_COMPLETED";
        };
        /**
         * JsonValue
         * @description Any JSON value.
         */
        JsonValue: unknown;
        /** @description The status of a request. Its member `status` is one of three states. */
        Status: components["schemas"]["InQueueStatus"] | components["schemas"]["InProgressStatus"] | components["schemas"]["CompletedStatus"];
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
