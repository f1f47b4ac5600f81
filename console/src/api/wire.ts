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
                    /** @description `high`, `normal` (the default) or `low`: claimed before or after all others of its model. */
                    priority?: string;
                    /** @description RFC 3339: when the request joins the queue, at most 30 days ahead. Instead of `delay`. */
                    not_before?: string;
                    /** @description The same as a duration from now, such as `30s`, `10m` or `2h`. */
                    delay?: string;
                    /** @description A duration: if it has not started by then it ends as `expired`. At most the model’s; counts from when it joins the queue. */
                    expires?: string;
                    /** @description A duration: how long one run may take. At most the model’s. */
                    timeout?: string;
                    /** @description `key:value`, each of 1 to 64 letters, digits, dots, underscores and hyphens; may be repeated, up to 8 times. */
                    tag?: string[];
                };
                header?: never;
                path: {
                    /** @description 1 to 8 segments joined by `/` or `%2F`; each is a letter or digit, then up to 63 letters, digits, dots, underscores or hyphens. The first is never `requests`, the last never `openapi.json`. */
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
                /** @description With `Prefer: wait=n`: the request has completed meanwhile. */
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
                /** @description What has changed. */
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
                /** @description The model as it is now. */
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
                    /** @description So many on a page; above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the page before; it holds the filters and the limit of that page. */
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
                    /** @description The `uid` of the list. */
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
                /** @description What it is told from now on. */
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
                    /** @description The `uid` of the list. */
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
                /** @description What it is told from now on. */
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
                    /** @description The `uid` of the list. */
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
                /** @description What it is told from now on. */
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
                    /** @description Its id. */
                    model: string;
                    /** @description So many on a page; above 500 counts as 500. */
                    limit?: number;
                    /** @description The `next_cursor` of the page before; it holds the filters and the limit of that page. */
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
                    /** @description Its id. */
                    model: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The keys that wait, run, or ran. */
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
                /** @description The node as it is now. */
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
                /** @description The node as it is now. */
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
                /** @description Who it is. */
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
                /** @description Signed in. */
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
                /** @description It has ended. */
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
                    /** @description So many on a page; above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the page before; it holds the filters and the limit of that page. */
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
                /** @description It has ended. */
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
                    /** @description So many on a page; above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the page before; it holds the filters and the limit of that page. */
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
                /** @description The key. */
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
                    /** @description `true`: also where no other key has the scope `admin` then; only `npm run keys` helps out. */
                    allow_no_admin?: "true";
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
                /** @description It is revoked. */
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
                    /** @description `true`: also where no other key has the scope `admin` then; only `npm run keys` helps out. */
                    allow_no_admin?: "true";
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
                /** @description The key as it is now. */
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
                /** @description The secrets. */
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
                /** @description The secrets as they are now. */
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
                    /** @description So many on a page; above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the page before; it holds the filters and the limit of that page. */
                    cursor?: string;
                    /** @description Only what this key did: its id, or the name that it had then. */
                    actor?: string;
                    /** @description Only this. */
                    action?: "model.pause" | "model.resume" | "model.concurrency" | "models.reload" | "key.create" | "key.update" | "key.revoke" | "node.drain" | "node.undrain" | "worker.drain" | "worker.resume" | "worker.stop" | "request.cancel" | "request.retry" | "request.erase" | "payload.read" | "operation.start" | "operation.stop" | "delivery.redeliver" | "secret.read" | "secret.rotate" | "endpoint.create" | "endpoint.remove" | "endpoint.disable" | "endpoint.enable" | "session.begin" | "session.refuse" | "session.end" | "session.link" | "access.refuse" | "audit.export";
                    /** @description Only what was done to this: an id, or the method and path of a refused call. */
                    target?: string;
                    /** @description RFC 3339: only what was done then or later. */
                    after?: string;
                    /** @description RFC 3339: only what was done before. */
                    before?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page, or all. */
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
                    /** @description Only requests that ended so. */
                    outcome?: "succeeded" | "failed" | "cancelled" | "expired";
                    /** @description Only requests with this tag, `key:value`; of several, with all of them. */
                    tag?: string[];
                    /** @description RFC 3339: only requests submitted then or later. */
                    created_after?: string;
                    /** @description RFC 3339: only requests submitted before. */
                    created_before?: string;
                    /** @description So many on a page; above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the page before; it holds the filters and the limit of that page. */
                    cursor?: string;
                    /** @description Only requests of this key. */
                    key_id?: string;
                    /** @description Only requests that failed with this code. */
                    code?: string;
                    /** @description Only requests that run on the node or the worker of this name, or ran. */
                    node?: string;
                    /** @description Only requests whose id begins so. Without the scope `payloads` a whole handle, `rh_…`. */
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
                    /** @description An id, or a handle. */
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
                    /** @description An id, or a handle. */
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
                    /** @description An id, or a handle. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Its events. */
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
                    /** @description `1` or `true` adds the log to a status and to the events of a stream; an output comes wrapped together with its log and metrics. */
                    logs?: "0" | "1" | "false" | "true";
                };
                header?: never;
                path: {
                    /** @description An id, or a handle. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A message a change. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": string;
                    };
                };
                /** @description It has completed, and all was sent. */
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
                    /** @description An id, or a handle. */
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
                /** @description The request as it is now. */
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
                    /** @description An id, or a handle. */
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
                    /** @description An id, or a handle. */
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
                /** @description It is erased. */
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
                    /** @description As the field `Last-Event-ID`, which goes before it, for those who cannot send that. */
                    starting_after?: string;
                };
                header?: never;
                path: {
                    /** @description An id, or a handle. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Events `output`, `reset` and `done`. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": string;
                    };
                };
                /** @description It has completed, and all was sent. */
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
                    /** @description The `next_cursor` of the page before. */
                    cursor?: string;
                };
                header?: never;
                path: {
                    /** @description An id, or a handle. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of its log. */
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
                    /** @description An id, or a handle. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The whole. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["JsonValue"];
                    };
                };
                /** @description The bytes that were asked for. */
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
                    /** @description An id, or a handle. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The whole. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["JsonValue"];
                    };
                };
                /** @description The bytes that were asked for. */
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
                    /** @description An id, or a handle. */
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
                    /** @description So many on a page; above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the page before; it holds the filters and the limit of that page. */
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
                /** @description With `validate_only`: what it would be about. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperationPreview"];
                    };
                };
                /** @description It is under way. */
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
                    /** @description So many on a page; above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the page before; it holds the filters and the limit of that page. */
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
                    /** @description An id, or a handle. */
                    request_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The deliveries; the page is the last one. */
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
                    /** @description The `id` of the list. */
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
                    /** @description So many on a page; above 100 counts as 100. */
                    limit?: number;
                    /** @description The `next_cursor` of the page before; it holds the filters and the limit of that page. */
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
                    /** @description The `id` of the list. */
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
                /** @description The endpoint as it is now. */
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
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An address that a node sends nothing but probes. */
        AddressAway: {
            /**
             * @description Without its path; of several with one origin, which of the list.
             * @example http://gpu-2:9000
             */
            address: string;
            /**
             * @description `probing`: a request is on its way there, to find out.
             * @example open
             * @enum {string}
             */
            circuit: "open" | "probing";
            /**
             * Format: date-time
             * @description Since when.
             * @example 2026-03-01T12:00:00.000Z
             */
            since: string;
            /**
             * @description Why.
             * @example The connection to the model could not be made (ECONNREFUSED).
             */
            reason: string;
        };
        /** @description A node that runs requests of the model. */
        ModelNode: {
            /**
             * @description `open`: it finds the model away, with all its addresses. `probing`: and a request is on its way to find out.
             * @example closed
             * @enum {string}
             */
            circuit: "closed" | "open" | "probing";
            /** @description The others get its runs. */
            addresses_away: components["schemas"]["AddressAway"][];
            /**
             * @description `NODE_NAME`.
             * @example gpu-2:4711
             */
            name: string;
            /**
             * @description How many runs it may have at once.
             * @example 2
             */
            slots: number;
            /**
             * @description How many it has.
             * @example 1
             */
            running: number;
        };
        /** @description How the last runs of a model ended, on all nodes. */
        RecentRuns: {
            /**
             * @description How many were looked at: the last 20 that ended within the hour.
             * @example 20
             */
            runs: number;
            /**
             * @description Of these, those that failed, took too long, or were lost.
             * @example 20
             */
            failed: number;
            /**
             * @description Of those that failed, the runs whose input the model refused with a 4xx.
             * @example 0
             */
            refused: number;
            /**
             * @description The most frequent code of those that failed; null: none did.
             * @example model_error
             */
            code: string | null;
            /**
             * @description What the last of them said; null: none did, or it said nothing.
             * @example The model answered 500.
             */
            message: string | null;
            /**
             * Format: date-time
             * @description When the last of them ended.
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
        /** @description What a key has of a model now. */
        KeyWaiting: {
            /**
             * Format: uuid
             * @description The id of the key.
             * @example 01a1fbb0-8cdf-7754-9773-e0650e0cecc1
             */
            key_id: string;
            /**
             * @description Its name.
             * @example web shop
             */
            name: string;
            /**
             * @description How many of its requests wait.
             * @example 28
             */
            waiting: number;
            /**
             * @description How many are running.
             * @example 2
             */
            running: number;
        };
        /** @description What happened in a minute, on all nodes. */
        MinuteCounts: {
            /**
             * Format: date-time
             * @description Its beginning.
             * @example 2026-03-01T12:00:00.000Z
             */
            minute: string;
            /**
             * @description Runs that were started.
             * @example 12
             */
            started: number;
            /**
             * @description Requests that completed.
             * @example 11
             */
            completed: number;
            /**
             * @description Of these, those that failed.
             * @example 1
             */
            failed: number;
        };
        /** @description A request at the front of the queue. */
        QueueMark: {
            /**
             * @description Its id, or for those who may not see payloads a handle.
             * @example rh_kq6pXv0mYx4S8n3s0J5e2Q
             */
            request_id: string;
            /**
             * Format: uuid
             * @description Whose it is.
             * @example 01a1fbb0-8cdf-7754-9773-e0650e0cecc1
             */
            key_id: string;
            /**
             * Format: date-time
             * @description Since when it waits.
             * @example 2026-03-01T12:00:00.000Z
             */
            since: string;
        };
        /** @description The first of the queue, as marks. */
        QueueFront: {
            /**
             * @description How many requests a mark stands for.
             * @example 1
             */
            per_mark: number;
            /** @description At most 120, in the order of the queue. */
            marks: components["schemas"]["QueueMark"][];
        };
        /** @description A number of the models file, and what was set beside it. */
        OverriddenConcurrency: {
            /**
             * @description What holds; null: no bound, for workers run it.
             * @example 2
             */
            current: number | null;
            /**
             * @description As the file has it; null: no bound.
             * @example 4
             */
            base: number | null;
            /**
             * @description What an operator has set; null: nothing.
             * @example 2
             */
            override: number | null;
            /**
             * Format: date-time
             * @description When; null: nothing is set.
             * @example 2026-03-01T12:00:00.000Z
             */
            overridden_at: string | null;
            /**
             * @description The name of the key that set it.
             * @example ops
             */
            overridden_by: string | null;
        };
        /** @description Whether the model is paused, and who paused it. */
        OverriddenPause: {
            /**
             * @description Nothing of it starts: with `hold` submissions wait, with `reject` they are answered 503 `model_paused`.
             * @example hold
             */
            current: false | ("hold" | "reject");
            /**
             * @description Always false: the file pauses nothing.
             * @example false
             * @enum {boolean}
             */
            base: false;
            /**
             * @description What an operator has set; null: nothing.
             * @example hold
             * @enum {string|null}
             */
            override: "hold" | "reject" | null;
            /**
             * Format: date-time
             * @description When; null: nothing is set.
             * @example 2026-03-01T12:00:00.000Z
             */
            overridden_at: string | null;
            /**
             * @description The name of the key that set it.
             * @example ops
             */
            overridden_by: string | null;
        };
        /** @description A model as operators see it. */
        AdminModel: {
            /**
             * @description From the models file.
             * @example Draws a fractal.
             */
            description: string;
            /**
             * @description Requests that start as soon as there is a slot.
             * @example 3
             */
            waiting: number;
            /**
             * @description Requests that wait for their next attempt, or for a time that their caller chose.
             * @example 0
             */
            delayed: number;
            /**
             * @description Requests that wait because their keys run as many as they may.
             * @example 0
             */
            held: number;
            /**
             * @description Requests in progress, on all nodes; some seconds old at most.
             * @example 2
             */
            running: number;
            /**
             * @description How many runs the nodes, or workers, may have at once, together; null: any number.
             * @example 2
             */
            slots: number | null;
            /**
             * Format: date-time
             * @description Since when the one waits that waits longest; null: nothing waits.
             * @example 2026-03-01T12:00:00.000Z
             */
            oldest_waiting_at: string | null;
            /**
             * @description Runs that were started since midnight UTC.
             * @example 1204
             */
            started_today: number;
            /**
             * @description Runs that were started a second, over the last minute.
             * @example 0.9
             */
            started_per_second: number;
            /**
             * @description Requests that completed in the last hour.
             * @example 3301
             */
            completed_last_hour: number;
            /**
             * @description Of these, those that failed.
             * @example 12
             */
            failed_last_hour: number;
            /**
             * @description Whether requests start now.
             * @example available
             * @enum {string}
             */
            availability: "available" | "unavailable" | "paused";
            /**
             * Format: date-time
             * @description Since when the first of the nodes could not reach it, also where that was restarted since; null: one can.
             * @example null
             */
            unavailable_since: string | null;
            /**
             * @description Why not; null: one can.
             * @example null
             */
            unavailable_reason: string | null;
            /** @description The nodes that run requests. */
            nodes: components["schemas"]["ModelNode"][];
            /** @description How its last runs ended, up to some seconds ago; null: none ended within the hour. */
            recent_runs: components["schemas"]["RecentRuns"] | null;
            /** @description How long its runs took in the last hour; null: too little is known. */
            run_time: components["schemas"]["ModelPercentiles"] | null;
            /** @description How long its requests waited; null: too little is known. */
            queue_time: components["schemas"]["ModelPercentiles"] | null;
            /** @description The keys that have something running, and those with most waiting. */
            waiting_by_key: components["schemas"]["KeyWaiting"][];
            /** @description The last 60 minutes, that of now last. */
            history: components["schemas"]["MinuteCounts"][];
            /** @description In `/v1/admin/events`, where something waits. */
            queue?: components["schemas"]["QueueFront"];
            /**
             * @description As callers name it.
             * @example demo/image/fractal
             */
            id: string;
            /**
             * @description The kind of its runner.
             * @example demo
             */
            kind: string;
            /**
             * @description Whether keys take turns, or all go as they came.
             * @example fair
             * @enum {string}
             */
            order: "fair" | "arrival";
            /** @description Runs at once, over all nodes. */
            concurrency: components["schemas"]["OverriddenConcurrency"];
            /** @description Whether it starts anything. */
            paused: components["schemas"]["OverriddenPause"];
        };
        /** @description All models. */
        AdminModelList: {
            /** @description In the order of the models file. */
            data: components["schemas"]["AdminModel"][];
            /**
             * @description Always null: it is one page.
             * @example null
             */
            next_cursor: string | null;
        };
        /** @description Why, for the audit. */
        Reason: {
            /**
             * @description In words.
             * @example asked for by its owner
             */
            reason?: string;
        };
        /** @description A model that has left the models file. */
        RemovedModel: {
            /**
             * @description As callers named it.
             * @example acme/image/upscale
             */
            id: string;
            /**
             * @description So many requests wait for it, until it is back or they are cancelled or expire.
             * @example 0
             */
            waiting: number;
        };
        /** @description What has changed since the models file was read before. */
        ModelsReload: {
            /**
             * @description Models that are new.
             * @example [
             *       "acme/image/upscale"
             *     ]
             */
            added: string[];
            /**
             * @description Models with other options.
             * @example [
             *       "demo/text/echo"
             *     ]
             */
            changed: string[];
            /** @description Models that are there no more. */
            removed: components["schemas"]["RemovedModel"][];
        };
        /** @description What is left out stays as it is. */
        ModelChange: {
            /**
             * @description Runs at once, over all nodes; null: as the file has it.
             * @example 2
             */
            concurrency?: number | null;
            /**
             * @description `hold`: nothing starts, submissions wait. `reject`: they are refused. false, null: neither.
             * @example hold
             */
            paused?: false | ("hold" | "reject") | null;
            /**
             * @description Why, for the audit.
             * @example new weights
             */
            reason?: string | null;
        };
        /** @description A key, for people. */
        KeyName: {
            /**
             * Format: uuid
             * @description The id of the key.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * @description Its name; null: it was removed.
             * @example web shop
             */
            name: string | null;
        };
        /** @description What claims runs over HTTP, as operators see it. */
        AdminWorker: {
            /**
             * Format: uuid
             * @description Its name for `/v1/admin/workers`; the same after a restart.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            uid: string;
            /**
             * @description As it calls itself under its key.
             * @example gpu-box-1
             */
            id: string;
            /**
             * @description For people.
             * @example gpu-box-1
             */
            name: string;
            /** @description Its key. */
            key: components["schemas"]["KeyName"];
            /**
             * @description Of its program, as it says.
             * @example 1.2.0
             */
            version: string;
            /**
             * @description As it says.
             * @example {
             *       "gpu": "L4"
             *     }
             */
            labels: {
                [key: string]: string;
            };
            /**
             * @description That it claims runs of.
             * @example [
             *       "acme/image/upscale"
             *     ]
             */
            models: string[];
            /**
             * @description `resting`: its last runs failed, so it claims nothing for a while. `draining`, `stopping`: it was told so. `away`: without a call for half a minute.
             * @example ready
             * @enum {string}
             */
            state: "ready" | "resting" | "draining" | "stopping" | "away";
            /**
             * @description What it says itself of its state; often nothing.
             * @example
             */
            says: string;
            /**
             * @description How many runs it has.
             * @example 1
             */
            running: number;
            /**
             * Format: date-time
             * @description When it was last known to be there; up to 20 s old.
             * @example 2026-03-01T12:00:00.000Z
             */
            seen_at: string;
            /**
             * @description How many of its last runs failed, one after the other.
             * @example 0
             */
            failures_in_row: number;
            /**
             * Format: date-time
             * @description Until when it claims nothing; null: it may now.
             * @example null
             */
            resting_until: string | null;
        };
        /** @description Workers, by name. */
        AdminWorkerPage: {
            /** @description Those that were there within a week. */
            data: components["schemas"]["AdminWorker"][];
            /**
             * @description The `cursor` of the next page; null: this is the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        /** @description A worker, and what it is told. */
        ToldWorker: {
            /**
             * Format: uuid
             * @description Its name for `/v1/admin/workers`.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            uid: string;
            /**
             * @description For people.
             * @example gpu-box-1
             */
            name: string;
            /**
             * @description To go on, to end what it has and claim nothing, or to end.
             * @example drain
             * @enum {string}
             */
            told: "run" | "drain" | "stop";
        };
        /** @description A node in short. */
        OverviewNode: {
            /**
             * Format: uuid
             * @description Its id.
             * @example 01a1fbb0-8cdf-7754-9773-e0650e0cecc1
             */
            id: string;
            /**
             * @description `NODE_NAME`.
             * @example gpu-2:4711
             */
            name: string;
            /**
             * @description Whether it serves calls (`api`), runs requests (`scheduler`) or both (`all`).
             * @example all
             */
            role: string;
            /**
             * @description How it is.
             * @example ready
             * @enum {string}
             */
            state: "ready" | "draining" | "stopping" | "fenced" | "lost";
        };
        /** @description All models and nodes, as they are. */
        Overview: {
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-03-01T12:00:00.000Z
             */
            at: string;
            /** @description In the order of the models file. */
            models: components["schemas"]["AdminModel"][];
            /** @description By name. */
            nodes: components["schemas"]["OverviewNode"][];
        };
        /** @description What has changed at the front of a queue. */
        QueueChanges: {
            /**
             * @description How many requests a mark stands for.
             * @example 1
             */
            per_mark: number;
            /** @description The `request_id` of marks that are to be taken away. */
            gone: string[];
            /** @description To be added at the end, after that. */
            marks: components["schemas"]["QueueMark"][];
        };
        /** @description Of a model its `id`, and what has changed of it. */
        ModelChanges: {
            /**
             * @description From the models file.
             * @example Draws a fractal.
             */
            description?: string;
            /**
             * @description Requests that start as soon as there is a slot.
             * @example 3
             */
            waiting?: number;
            /**
             * @description Requests that wait for their next attempt, or for a time that their caller chose.
             * @example 0
             */
            delayed?: number;
            /**
             * @description Requests that wait because their keys run as many as they may.
             * @example 0
             */
            held?: number;
            /**
             * @description Requests in progress, on all nodes; some seconds old at most.
             * @example 2
             */
            running?: number;
            /**
             * @description How many runs the nodes, or workers, may have at once, together; null: any number.
             * @example 2
             */
            slots?: number | null;
            /**
             * Format: date-time
             * @description Since when the one waits that waits longest; null: nothing waits.
             * @example 2026-03-01T12:00:00.000Z
             */
            oldest_waiting_at?: string | null;
            /**
             * @description Runs that were started since midnight UTC.
             * @example 1204
             */
            started_today?: number;
            /**
             * @description Runs that were started a second, over the last minute.
             * @example 0.9
             */
            started_per_second?: number;
            /**
             * @description Requests that completed in the last hour.
             * @example 3301
             */
            completed_last_hour?: number;
            /**
             * @description Of these, those that failed.
             * @example 12
             */
            failed_last_hour?: number;
            /**
             * @description Whether requests start now.
             * @example available
             * @enum {string}
             */
            availability?: "available" | "unavailable" | "paused";
            /**
             * Format: date-time
             * @description Since when the first of the nodes could not reach it, also where that was restarted since; null: one can.
             * @example null
             */
            unavailable_since?: string | null;
            /**
             * @description Why not; null: one can.
             * @example null
             */
            unavailable_reason?: string | null;
            /** @description The nodes that run requests. */
            nodes?: components["schemas"]["ModelNode"][];
            /** @description How its last runs ended, up to some seconds ago; null: none ended within the hour. */
            recent_runs?: components["schemas"]["RecentRuns"] | null;
            /** @description How long its runs took in the last hour; null: too little is known. */
            run_time?: components["schemas"]["ModelPercentiles"] | null;
            /** @description How long its requests waited; null: too little is known. */
            queue_time?: components["schemas"]["ModelPercentiles"] | null;
            /** @description The keys that have something running, and those with most waiting. */
            waiting_by_key?: components["schemas"]["KeyWaiting"][];
            /**
             * @description The kind of its runner.
             * @example demo
             */
            kind?: string;
            /**
             * @description Whether keys take turns, or all go as they came.
             * @example fair
             * @enum {string}
             */
            order?: "fair" | "arrival";
            /** @description Runs at once, over all nodes. */
            concurrency?: components["schemas"]["OverriddenConcurrency"];
            /** @description Whether it starts anything. */
            paused?: components["schemas"]["OverriddenPause"];
            /**
             * @description As callers name it.
             * @example demo/image/fractal
             */
            id: string;
            /** @description The minutes that have changed or are new; the last 60 of all are to be kept. */
            history?: components["schemas"]["MinuteCounts"][];
            /** @description What has changed at the front of its queue; null: nothing waits. */
            queue?: components["schemas"]["QueueChanges"] | null;
        };
        /** @description What has changed since the event before. */
        OverviewChanges: {
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-03-01T12:00:00.000Z
             */
            at: string;
            /** @description Those that have changed. */
            models: components["schemas"]["ModelChanges"][];
            /** @description Those that have changed, whole. */
            nodes: components["schemas"]["OverviewNode"][];
        };
        /** @description The stream goes on, and what its figures are worth. */
        OverviewAlive: {
            /**
             * Format: date-time
             * @description When it was sent, by the clock of the node.
             * @example 2026-03-01T12:00:00.000Z
             */
            at: string;
            /**
             * @description Whether the database answers the node: if it is `away`, calls are answered 503.
             * @example up
             * @enum {string}
             */
            database: "up" | "away";
            /**
             * Format: date-time
             * @description Since when it has not answered; null: it does.
             * @example null
             */
            database_away_since: string | null;
            /**
             * @description What the disk of the node or of the database keeps from being done, and what to do; null: nothing is known of.
             * @example null
             */
            disk_fault: string | null;
            /**
             * Format: date-time
             * @description When the figures were last read, by the clock of the node; null: they have not been.
             * @example 2026-03-01T12:00:00.000Z
             */
            read_at: string | null;
        };
        /** @description Between these. */
        TimeInterval: {
            /**
             * Format: date-time
             * @description Its beginning.
             * @example 2026-03-01T12:00:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description Its end.
             * @example 2026-03-01T12:00:00.000Z
             */
            to: string;
        };
        /** @description A request that runs, or stands in the queue. */
        QueueEntry: {
            /**
             * @description Its id, or for those who may not see payloads a handle.
             * @example rh_kq6pXv0mYx4S8n3s0J5e2Q
             */
            request_id: string;
            /**
             * @description `held`: its key runs as many as it may. `delayed`: it waits for its next attempt.
             * @example waiting
             * @enum {string}
             */
            state: "running" | "waiting" | "held" | "delayed";
            /**
             * @description How many will be started before it; null: it runs.
             * @example 3
             */
            position: number | null;
            /** @description Whose it is. */
            key: components["schemas"]["KeyName"];
            /**
             * @description Its priority.
             * @example normal
             * @enum {string}
             */
            priority: "high" | "normal" | "low";
            /**
             * Format: date-time
             * @description Since when it waits, or waited.
             * @example 2026-03-01T12:00:00.000Z
             */
            since: string;
            /**
             * @description How often it was started.
             * @example 0
             */
            attempt: number;
            /**
             * Format: date-time
             * @description When its run began; null: it waits.
             * @example null
             */
            started_at: string | null;
            /**
             * @description Where it runs; null: it waits.
             * @example null
             */
            node: string | null;
            /**
             * Format: date-time
             * @description Before then it does not start; null: it may.
             * @example null
             */
            not_before: string | null;
            /** @description Absent where too little is known. */
            estimated_start?: components["schemas"]["TimeInterval"];
        };
        /** @description A page of a queue. */
        QueueEntryPage: {
            /** @description On the first page what runs, then what waits, in order. */
            data: components["schemas"]["QueueEntry"][];
            /**
             * @description Asks for the next page; null: there is none.
             * @example null
             */
            next_cursor: string | null;
        };
        /** @description What a key gets of a model. */
        Share: {
            /** @description The key. */
            key: components["schemas"]["KeyName"];
            /**
             * @description Its weight.
             * @example 1
             */
            weight: number;
            /**
             * @description How many of its requests may run at once; null: any number.
             * @example null
             */
            max_running: number | null;
            /**
             * @description How many of its requests wait.
             * @example 28
             */
            waiting: number;
            /**
             * @description Of these, those that wait because of `max_running`.
             * @example 0
             */
            held: number;
            /**
             * @description How many are running.
             * @example 2
             */
            running: number;
            /**
             * @description Its part of what runs; null: nothing runs.
             * @example 0.5
             */
            share_now: number | null;
            /**
             * @description How many of its runs began in the last hour.
             * @example 312
             */
            starts_last_hour: number;
            /**
             * @description For how long its requests ran in the last hour.
             * @example 1204.5
             */
            run_seconds_last_hour: number;
            /**
             * @description Its part of all running time in the last hour; null: nothing ran.
             * @example 0.48
             */
            share_last_hour: number | null;
        };
        /** @description What each key gets of a model. */
        ShareList: {
            /** @description Who ran most first. */
            data: components["schemas"]["Share"][];
            /**
             * @description Always null: it is one page.
             * @example null
             */
            next_cursor: string | null;
            /**
             * @description `waiting` and `held` count so many at the front of the queue, as happens with `order: arrival`; null: all.
             * @example null
             */
            sampled: number | null;
        };
        /** @description What a node has of a model. */
        NodeModel: {
            /**
             * @description `open`: it finds the model away, with all its addresses. `probing`: and a request is on its way to find out.
             * @example closed
             * @enum {string}
             */
            circuit: "closed" | "open" | "probing";
            /** @description The others get its runs. */
            addresses_away: components["schemas"]["AddressAway"][];
            /**
             * @description The model.
             * @example demo/image/fractal
             */
            model_id: string;
            /**
             * @description How many runs it may have at once.
             * @example 2
             */
            slots: number;
            /**
             * @description How many it has.
             * @example 1
             */
            running: number;
            /**
             * Format: date-time
             * @description Of a silent node: its slots are nobody else’s until then; null: they are in use.
             * @example null
             */
            resting_until: string | null;
            /**
             * @description Why it finds the model away; null: it does not.
             * @example null
             */
            reason: string | null;
            /**
             * @description Runs of it that ended here within the hour, of the newest 5,000 of all.
             * @example 120
             */
            recent_runs: number;
            /**
             * @description Of these, those that failed, took too long, or were lost.
             * @example 2
             */
            recent_failed: number;
            /** @description How long those took that succeeded, in seconds; null: there were too few. */
            run_time: components["schemas"]["ModelPercentiles"] | null;
        };
        /** @description A process of the cluster. */
        AdminNode: {
            /**
             * Format: uuid
             * @description Its id, another after each start.
             * @example 01a1fbb0-8cdf-7754-9773-e0650e0cecc1
             */
            id: string;
            /**
             * @description `NODE_NAME`.
             * @example gpu-2:4711
             */
            name: string;
            /**
             * @description The version of the service that it runs.
             * @example 0.1.0
             */
            version: string;
            /**
             * @description Whether it serves calls (`api`), runs requests (`scheduler`) or both (`all`).
             * @example all
             */
            role: string;
            /**
             * @description `draining`: an operator said so. `stopping`: its process is ending. Both start nothing more and leave their idle slots to the others. `fenced`: silent for 5 s, so that it has stopped its runs. `lost`: for 6 s, so that others take them; it is listed so for an hour.
             * @example ready
             * @enum {string}
             */
            state: "ready" | "draining" | "stopping" | "fenced" | "lost";
            /**
             * Format: date-time
             * @description When it joined.
             * @example 2026-03-01T12:00:00.000Z
             */
            started_at: string;
            /**
             * Format: date-time
             * @description Its last sign of life; there is one each 1.5 s.
             * @example 2026-03-01T12:00:00.000Z
             */
            heartbeat_at: string;
            /**
             * Format: date-time
             * @description When the others gave it up; null: they did not.
             * @example null
             */
            lost_at: string | null;
            /**
             * @description How many runs it had then, which went back to their queues or ended; null: it was not given up.
             * @example null
             */
            lost_runs: number | null;
            /**
             * Format: date-time
             * @description Since when it starts nothing more; null: it does.
             * @example null
             */
            draining_since: string | null;
            /**
             * @description How many runs it has.
             * @example 1
             */
            running: number;
            /**
             * @description How many it may have at once, of all models.
             * @example 4
             */
            slots: number;
            /** @description Those that it has slots or runs of, or finds away. */
            models: components["schemas"]["NodeModel"][];
        };
        /** @description All nodes. */
        AdminNodeList: {
            /** @description By name, and after them those that were lost within the hour, the last first. */
            data: components["schemas"]["AdminNode"][];
            /**
             * @description Always null: it is one page.
             * @example null
             */
            next_cursor: string | null;
        };
        /** @description A node, and whether it still starts runs. */
        DrainedNode: {
            /**
             * Format: uuid
             * @description Its id, another after each start.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * @description `NODE_NAME`.
             * @example gpu-2:4711
             */
            name: string;
            /**
             * @description Whether it serves calls (`api`), runs requests (`scheduler`) or both (`all`).
             * @example all
             */
            role: string;
            /**
             * Format: date-time
             * @description Since when it starts nothing more; null: it does.
             * @example 2026-03-01T12:00:00.000Z
             */
            draining_since: string | null;
        };
        /** @description One call of the receiver. */
        WebhookTry: {
            /**
             * Format: date-time
             * @description When, in UTC with milliseconds.
             * @example 2026-03-01T12:00:02.501Z
             */
            at: string;
            /**
             * @description The HTTP status of the answer; null: there was none.
             * @example 200
             */
            status: number | null;
            /**
             * @description How long it took.
             * @example 84
             */
            duration_ms: number;
            /**
             * @description The first KiB of the answer; null: there was none, or the request was erased.
             * @example ok
             */
            body: string | null;
            /**
             * @description Why there was no answer.
             * @example null
             */
            error: string | null;
        };
        /** @description What one receiver is sent of the completion of a request. */
        WebhookDelivery: {
            /**
             * Format: uuid
             * @description Its id, which each try sends as `webhook-id`.
             * @example 7d1b5a0e-2c64-4a8e-9f35-0b6c1d2e3f40
             */
            id: string;
            /**
             * Format: uri
             * @description Where it goes.
             * @example https://example.org/hook
             */
            url: string;
            /**
             * @description `pending`: it is tried, or will be again; `delivered`; `failed`: all tries are used up; `ended`: the receiver answered 410, or the request was gone.
             * @example delivered
             * @enum {string}
             */
            state: "pending" | "delivered" | "failed" | "ended";
            /** @description Oldest first; the last hundred. */
            tries: components["schemas"]["WebhookTry"][];
        };
        /** @description The webhooks of a request. */
        WebhookDeliveries: {
            /** @description Oldest first; empty until the request has completed. */
            data: components["schemas"]["WebhookDelivery"][];
        };
        /** @description Who claims. */
        Worker: {
            /**
             * @description What it calls itself under its key, always the same for one worker.
             * @example gpu-1
             */
            id: string;
            /**
             * @description For people; its id if left out.
             * @example gpu-1
             */
            name?: string;
            /**
             * @description Of what it runs.
             * @example 1.4.0
             */
            version?: string;
            /**
             * @description Anything else that people are to see of it: at most 32 texts of 200 characters.
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
             * @description Its id; its runner is of the kind `worker`.
             * @example me/image/upscale
             */
            model_id: string;
            /**
             * @description So many runs of it at most in this answer; as many as of all if left out.
             * @example 1
             */
            max?: number;
        };
        /** @description Asks for runs. */
        Claim: {
            /**
             * @description Chosen anew for each claim. The same once more gets the same runs again.
             * @example c-7f3a
             */
            claim_id: string;
            /** @description Who claims. */
            worker: components["schemas"]["Worker"];
            /** @description What it runs, at least one. */
            models: components["schemas"]["ClaimedModel"][];
            /**
             * @description So many runs at most in this answer; 1 if left out.
             * @example 1
             */
            max?: number;
        };
        /** @description A run that a worker has been given. */
        WorkerRun: {
            /**
             * Format: uuid
             * @description The request that it is of.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id: string;
            /**
             * @description Of the request, from 1 on.
             * @example 1
             */
            attempt: number;
            /**
             * @description The model.
             * @example me/image/upscale
             */
            model_id: string;
            /**
             * @description Goes along with all that is said of the run, in the header `Lease-Token`.
             * @example AZqhsnw9fk-KW2x9jp8KG8D4mZ5k8kYJjW0yqC2nT5E
             */
            lease_token: string;
            /**
             * @description Seconds until the run is given to another, unless a beat or a call of the run comes before.
             * @example 10
             */
            lease_s: number;
            /**
             * Format: date-time
             * @description When the run is over, whatever comes.
             * @example 2026-03-01T12:10:00.000Z
             */
            deadline_at: string;
            /**
             * @description The input of the request; absent where `input_url` is there.
             * @example {
             *       "prompt": "a spiral"
             *     }
             */
            input?: {
                [key: string]: unknown;
            };
            /**
             * @description Where to fetch an input that is too large to go along, with the `Lease-Token`.
             * @example http://127.0.0.1:3000/v1/worker/runs/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/input
             */
            input_url?: string;
            /**
             * @description The trace that the run is part of, as W3C Trace Context has it.
             * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
             */
            traceparent?: string;
            /**
             * @description Beside `traceparent`.
             * @example vendor=1
             */
            tracestate?: string;
        };
        /** @description What a claim has brought. */
        ClaimedRuns: {
            /** @description The runs, in the order of the queue. */
            runs: components["schemas"]["WorkerRun"][];
        };
        /** @description A sign that the worker lives, and has these runs. */
        Beat: {
            /**
             * @description The `id` of the worker.
             * @example gpu-1
             */
            worker_id: string;
            /**
             * @description What it does, for people.
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
        /** @description What the worker is to know. */
        BeatAnswer: {
            /**
             * @description Seconds that a lease lasts from a beat on.
             * @example 30
             */
            lease_s: number;
            /**
             * @description Seconds after which the next beat is expected.
             * @example 10
             */
            beat_s: number;
            /**
             * @description `run`; `drain`: claim nothing more; `stop`: end.
             * @example run
             * @enum {string}
             */
            worker: "run" | "drain" | "stop";
            /**
             * @description Requests whose runs are to stop.
             * @example [
             *       "019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b"
             *     ]
             */
            cancel: string[];
            /**
             * @description Requests whose leases the worker has no more: what it says of them is refused.
             * @example []
             */
            lost: string[];
        };
        /** @description How far the events of a run are written. */
        EventsTaken: {
            /**
             * @description The number of the next event.
             * @example 3
             */
            next: number;
            /**
             * @description Whether the run is to stop.
             * @example false
             */
            cancel: boolean;
        };
        /** @description How a run failed. */
        WorkerFailure: {
            /**
             * @description Shown to the caller.
             * @example out of memory
             */
            message?: string;
            /**
             * @description Whether another attempt may succeed; false if left out.
             * @example true
             */
            retryable?: boolean;
            /**
             * @description Seconds until the next attempt, at least.
             * @example 5
             */
            retry_after_s?: number;
            /**
             * @description What the caller is answered in place of 502, where the input is refused for good.
             * @example 422
             */
            status?: number;
            /**
             * @description More of it, as any JSON value of 64 KiB at most.
             * @example {
             *       "reason": "the prompt is empty"
             *     }
             */
            details?: components["schemas"]["JsonValue"];
        };
        /** @description What is to be uploaded. */
        NewUpload: {
            /**
             * @description Its media type, which the upload has to have too.
             * @example image/png
             */
            content_type: string;
            /**
             * @description What it is called: the last part of it, at most 200 characters; `file` if left out.
             * @example cat.png
             */
            file_name?: string;
        };
        /** @description Where to send the bytes, and where they will be. */
        InitiatedUpload: {
            /**
             * Format: uri
             * @description Where the file will be; stands in an input as a string.
             * @example http://127.0.0.1:3000/v1/files/5b1c6f2e-8f0d-4d39-9d5e-0c4a7b1e2f63/cat.png
             */
            file_url: string;
            /**
             * Format: uri
             * @description Where to PUT the bytes, within an hour; it needs no key.
             * @example http://127.0.0.1:3000/v1/storage/uploads/5b1c6f2e-8f0d-4d39-9d5e-0c4a7b1e2f63?expires=1767268800&type=image%2Fpng&signature=m3Qx
             */
            upload_url: string;
        };
        /** @description A page of a list of requests. */
        RequestPage: {
            /** @description Newest first. There may be fewer than asked for, also none, where `next_cursor` is no null. */
            data: components["schemas"]["Status"][];
            /**
             * @description The `cursor` of the next page; null: this is the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        /** @description A submission of a batch; its options are those of one by itself. */
        BatchEntry: {
            /** @description A URL that is called when the request completes. */
            webhook?: string;
            /**
             * @description `high`, `normal` (the default) or `low`: claimed before or after all others of its model.
             * @example normal
             */
            priority?: string;
            /** @description RFC 3339: when the request joins the queue, at most 30 days ahead. Instead of `delay`. */
            not_before?: string;
            /** @description The same as a duration from now, such as `30s`, `10m` or `2h`. */
            delay?: string;
            /** @description A duration: if it has not started by then it ends as `expired`. At most the model’s; counts from when it joins the queue. */
            expires?: string;
            /** @description A duration: how long one run may take. At most the model’s. */
            timeout?: string;
            /**
             * @description One `key:value`, or up to 8.
             * @example [
             *       "job:17"
             *     ]
             */
            tag?: string | string[];
            /**
             * @description The model that it is for.
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
            /** @description As the header `Idempotency-Key`: 1 to 255 printable ASCII characters. */
            idempotency_key?: string;
        };
        /** @description Many submissions. */
        Batch: {
            /** @description In the order of the results. */
            requests: components["schemas"]["BatchEntry"][];
        };
        /** @description One thing wrong with one place of the input. */
        FieldError: {
            /**
             * @description Where: a JSON Pointer (RFC 6901) into the body, empty for the whole.
             * @example /width
             */
            path: string;
            /**
             * @description What is wrong there.
             * @example must be an integer
             */
            message: string;
        };
        /** @description What became of an entry: the four fields of a submission with status 202, or what is wrong with it. */
        BatchResult: {
            /**
             * @description The status that the submission by itself would have been answered with.
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
             * @description Where the response is.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            response_url?: string;
            /**
             * Format: uri
             * @description Where the status is.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status
             */
            status_url?: string;
            /**
             * Format: uri
             * @description Where it is cancelled.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel
             */
            cancel_url?: string;
            /**
             * @description The stable name of the kind of problem.
             * @enum {string}
             */
            code?: "bad_request" | "invalid_json" | "invalid_query" | "invalid_upload" | "not_completed" | "already_completed" | "missing_key" | "invalid_key" | "sign_in_refused" | "forbidden" | "invalid_upload_url" | "rate_limited" | "not_found" | "unknown_model" | "unknown_id" | "unknown_request" | "unknown_file" | "unknown_operation" | "method_not_allowed" | "conflict" | "claim_conflict" | "gone" | "lease_lost" | "worker_stopped" | "changed_meanwhile" | "body_too_large" | "too_large" | "unsupported_encoding" | "range_not_satisfiable" | "invalid_input" | "invalid_models_file" | "idempotency_key_reused" | "invalid_idempotency_key" | "cancelled" | "too_slow" | "caller_busy" | "queue_full" | "worker_resting" | "internal_error" | "model_error" | "model_unavailable" | "node_lost" | "worker_lost" | "unavailable" | "overloaded" | "model_paused" | "timed_out" | "expired" | "storage_full";
            /** @description The problem in words. */
            detail?: string;
            /** @description With `invalid_input`: everything that does not fit the schema of the model. */
            errors?: components["schemas"]["FieldError"][];
        };
        /** @description What became of a batch. */
        BatchResults: {
            /** @description In the order of the entries. */
            results: components["schemas"]["BatchResult"][];
        };
        /** @description The statuses of some requests. */
        Statuses: {
            /** @description In the order of the ids; null: unknown, another key’s, or gone. */
            results: (components["schemas"]["Status"] | null)[];
        };
        /** @description Some requests. */
        RequestIds: {
            /**
             * @description Up to 1,000.
             * @example [
             *       "019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b"
             *     ]
             */
            request_ids: string[];
        };
        /** @description The filters of the list; all that are given must fit. */
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
             * @description Only requests that ended so.
             * @example failed
             * @enum {string}
             */
            outcome?: "succeeded" | "failed" | "cancelled" | "expired";
            /**
             * @description One `key:value`, or several that must all be there.
             * @example job:17
             */
            tag?: string | string[];
            /**
             * Format: date-time
             * @description RFC 3339: only requests submitted then or later.
             */
            created_after?: string;
            /**
             * Format: date-time
             * @description RFC 3339: only requests submitted before.
             */
            created_before?: string;
        };
        /** @description Which requests: by their ids or by a filter, not both. */
        CancelMany: {
            /** @description Up to 10,000. */
            request_ids?: string[];
            /** @description At least one filter. */
            filter?: components["schemas"]["RequestFilter"];
        };
        /** @description What became of the requests. */
        CancelCounts: {
            /**
             * @description Waited, and will never start.
             * @example 12
             */
            cancelled: number;
            /**
             * @description Are running and were asked to stop.
             * @example 4
             */
            cancellation_requested: number;
            /**
             * @description Had completed. A filter finds none that had before the call.
             * @example 0
             */
            already_completed: number;
            /**
             * @description Are unknown, another key’s, or gone.
             * @example 0
             */
            unknown: number;
            /**
             * @description Whether others fit the filter still: send the call again.
             * @example false
             */
            more: boolean;
        };
        /** @description A request in the queue, and where to ask for it. */
        QueuedRequest: {
            /**
             * Format: uuid
             * @description Unique identifier of the queued request, a UUIDv7; used in all request-level paths.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id: string;
            /**
             * Format: uri
             * @description Where the response is, once the request has completed.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            response_url: string;
            /**
             * Format: uri
             * @description Where the status is read; add /stream to follow it.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status
             */
            status_url: string;
            /**
             * Format: uri
             * @description Where the request is cancelled, with PUT.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel
             */
            cancel_url: string;
        };
        /** @description Something that was said while the request was processed. */
        LogEntry: {
            /**
             * @description What was said.
             * @example Drawing line 120 of 512
             */
            message: string;
            /**
             * @description How severe it is.
             * @example INFO
             * @enum {string}
             */
            level: "DEBUG" | "INFO" | "WARN" | "ERROR";
            /**
             * @description Who said it: the queue, the runner, or the model on one of its outputs.
             * @example runner
             * @enum {string}
             */
            source: "queue" | "runner" | "stdout" | "stderr";
            /**
             * Format: date-time
             * @description When, in UTC with milliseconds.
             * @example 2026-03-01T12:00:01.250Z
             */
            timestamp: string;
        };
        /** @description Nothing has been measured yet. */
        NoMetrics: Record<string, never>;
        /** @description When something happens, as far as is known: a time, not a promise. It holds more often than not. */
        TimeSpan: {
            /**
             * Format: date-time
             * @description Hardly earlier, in UTC.
             * @example 2026-03-01T12:00:20.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description Hardly later.
             * @example 2026-03-01T12:00:40.000Z
             */
            to: string;
        };
        /** @description The request waits. */
        InQueueStatus: {
            /**
             * Format: uuid
             * @description Unique identifier of the queued request, a UUIDv7; used in all request-level paths.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id: string;
            /**
             * Format: uri
             * @description Where the response is, once the request has completed.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            response_url: string;
            /**
             * Format: uri
             * @description Where the status is read; add /stream to follow it.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status
             */
            status_url: string;
            /**
             * Format: uri
             * @description Where the request is cancelled, with PUT.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel
             */
            cancel_url: string;
            /**
             * @description The model that it is for.
             * @example demo/image/fractal
             */
            model_id: string;
            /**
             * Format: date-time
             * @description When it was submitted, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When its last attempt started; null: none did.
             * @example null
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description When it completed; null: it has not.
             * @example null
             */
            completed_at: string | null;
            /**
             * @description The attempt that goes on, comes next, or was the last. A start that did not reach the model counts for nothing.
             * @example 1
             */
            attempt: number;
            /**
             * @description As `key:value`, as its submission gave them.
             * @example [
             *       "job:17"
             *     ]
             */
            tags: string[];
            /**
             * Format: date-time
             * @description When it joins the queue, or did, if its submission said so.
             */
            scheduled_at?: string;
            /**
             * Format: uuid
             * @description The request that it repeats.
             */
            retry_of?: string;
            /**
             * Format: uuid
             * @description The request that repeats it; the last one of several.
             */
            retried_as?: string;
            /**
             * Format: date-time
             * @description In lists: when its content was erased.
             */
            erased_at?: string;
            /** @description With `logs=1`: oldest first, at most 1,000 entries and 64 KiB of text. Empty while in the queue. */
            logs?: components["schemas"]["LogEntry"][];
            /**
             * @description The state. (enum property replaced by openapi-typescript) (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            status: "IN_QUEUE";
            /**
             * @description How many requests of the same model will be started before this one: 0 at the front.
             * @example 0
             */
            queue_position: number;
            /** @description Empty. */
            metrics: components["schemas"]["NoMetrics"];
            /**
             * @description What it waits for: slots of the model (`busy`), a model that is away (`unavailable`) or paused, its time (`scheduled`), or the pause before its next attempt (`retrying`).
             * @example busy
             * @enum {string}
             */
            reason: "busy" | "unavailable" | "paused" | "scheduled" | "retrying";
            /**
             * @description When it starts: an estimate from how long runs take, what waits before it and how often others come in before. Absent while too little is known, or it waits for something else than slots.
             * @example {
             *       "from": "2026-03-01T12:00:20.000Z",
             *       "to": "2026-03-01T12:00:40.000Z"
             *     }
             */
            estimated_start?: components["schemas"]["TimeSpan"];
            /**
             * @description When it ends, if its next attempt is the last. Absent as `estimated_start` is.
             * @example {
             *       "from": "2026-03-01T12:00:22.000Z",
             *       "to": "2026-03-01T12:00:43.000Z"
             *     }
             */
            estimated_end?: components["schemas"]["TimeSpan"];
        };
        /** @description What has been measured so far. */
        QueueMetrics: {
            /**
             * @description Seconds from submission to start.
             * @example 0.042
             */
            queue_time: number;
        };
        /** @description How far the run is, as it said last. */
        Progress: {
            /**
             * @description From 0 to 1.
             * @example 0.4
             */
            value: number;
            /**
             * @description What it is at; null: it did not say.
             * @example Drawing line 205 of 512
             */
            message: string | null;
        };
        /** @description The request is being processed. */
        InProgressStatus: {
            /**
             * Format: uuid
             * @description Unique identifier of the queued request, a UUIDv7; used in all request-level paths.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id: string;
            /**
             * Format: uri
             * @description Where the response is, once the request has completed.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            response_url: string;
            /**
             * Format: uri
             * @description Where the status is read; add /stream to follow it.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status
             */
            status_url: string;
            /**
             * Format: uri
             * @description Where the request is cancelled, with PUT.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel
             */
            cancel_url: string;
            /**
             * @description The model that it is for.
             * @example demo/image/fractal
             */
            model_id: string;
            /**
             * Format: date-time
             * @description When it was submitted, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When its last attempt started; null: none did.
             * @example null
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description When it completed; null: it has not.
             * @example null
             */
            completed_at: string | null;
            /**
             * @description The attempt that goes on, comes next, or was the last. A start that did not reach the model counts for nothing.
             * @example 1
             */
            attempt: number;
            /**
             * @description As `key:value`, as its submission gave them.
             * @example [
             *       "job:17"
             *     ]
             */
            tags: string[];
            /**
             * Format: date-time
             * @description When it joins the queue, or did, if its submission said so.
             */
            scheduled_at?: string;
            /**
             * Format: uuid
             * @description The request that it repeats.
             */
            retry_of?: string;
            /**
             * Format: uuid
             * @description The request that repeats it; the last one of several.
             */
            retried_as?: string;
            /**
             * Format: date-time
             * @description In lists: when its content was erased.
             */
            erased_at?: string;
            /** @description With `logs=1`: oldest first, at most 1,000 entries and 64 KiB of text. Empty while in the queue. */
            logs?: components["schemas"]["LogEntry"][];
            /**
             * @description The state. (enum property replaced by openapi-typescript) (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            status: "IN_PROGRESS";
            /** @description What has been measured so far. */
            metrics: components["schemas"]["QueueMetrics"];
            /**
             * @description How far the run is; absent until it says so.
             * @example {
             *       "value": 0.4,
             *       "message": "Drawing line 205 of 512"
             *     }
             */
            progress?: components["schemas"]["Progress"];
            /**
             * @description When it ends: an estimate from how long other runs took. Absent while too little is known.
             * @example {
             *       "from": "2026-03-01T12:00:22.000Z",
             *       "to": "2026-03-01T12:00:43.000Z"
             *     }
             */
            estimated_end?: components["schemas"]["TimeSpan"];
        };
        /** @description What was measured. */
        FinalMetrics: {
            /**
             * @description Seconds from submission to start.
             * @example 0.042
             */
            queue_time: number;
            /**
             * @description Seconds that the model took; null if the request never ran.
             * @example 2.513
             */
            inference_time: number | null;
        };
        /** @description Why a completed request has no response. */
        RequestError: {
            /**
             * @description The stable name of the kind of failure.
             * @example model_error
             * @enum {string}
             */
            code: "bad_request" | "invalid_json" | "invalid_query" | "invalid_upload" | "not_completed" | "already_completed" | "missing_key" | "invalid_key" | "sign_in_refused" | "forbidden" | "invalid_upload_url" | "rate_limited" | "not_found" | "unknown_model" | "unknown_id" | "unknown_request" | "unknown_file" | "unknown_operation" | "method_not_allowed" | "conflict" | "claim_conflict" | "gone" | "lease_lost" | "worker_stopped" | "changed_meanwhile" | "body_too_large" | "too_large" | "unsupported_encoding" | "range_not_satisfiable" | "invalid_input" | "invalid_models_file" | "idempotency_key_reused" | "invalid_idempotency_key" | "cancelled" | "too_slow" | "caller_busy" | "queue_full" | "worker_resting" | "internal_error" | "model_error" | "model_unavailable" | "node_lost" | "worker_lost" | "unavailable" | "overloaded" | "model_paused" | "timed_out" | "expired" | "storage_full";
            /**
             * @description The failure in words.
             * @example The model refused the input.
             */
            message: string;
            /**
             * Format: date-time
             * @description When it failed, in UTC.
             * @example 2026-03-01T12:00:02.500Z
             */
            timestamp: string;
            /**
             * @description What the model itself said, as any JSON value.
             * @example {
             *       "reason": "the prompt was refused"
             *     }
             */
            details?: components["schemas"]["JsonValue"];
        };
        /** @description The request has ended; nothing changes it any more. */
        CompletedStatus: {
            /**
             * Format: uuid
             * @description Unique identifier of the queued request, a UUIDv7; used in all request-level paths.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            request_id: string;
            /**
             * Format: uri
             * @description Where the response is, once the request has completed.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            response_url: string;
            /**
             * Format: uri
             * @description Where the status is read; add /stream to follow it.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status
             */
            status_url: string;
            /**
             * Format: uri
             * @description Where the request is cancelled, with PUT.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel
             */
            cancel_url: string;
            /**
             * @description The model that it is for.
             * @example demo/image/fractal
             */
            model_id: string;
            /**
             * Format: date-time
             * @description When it was submitted, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When its last attempt started; null: none did.
             * @example null
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description When it completed; null: it has not.
             * @example null
             */
            completed_at: string | null;
            /**
             * @description The attempt that goes on, comes next, or was the last. A start that did not reach the model counts for nothing.
             * @example 1
             */
            attempt: number;
            /**
             * @description As `key:value`, as its submission gave them.
             * @example [
             *       "job:17"
             *     ]
             */
            tags: string[];
            /**
             * Format: date-time
             * @description When it joins the queue, or did, if its submission said so.
             */
            scheduled_at?: string;
            /**
             * Format: uuid
             * @description The request that it repeats.
             */
            retry_of?: string;
            /**
             * Format: uuid
             * @description The request that repeats it; the last one of several.
             */
            retried_as?: string;
            /**
             * Format: date-time
             * @description In lists: when its content was erased.
             */
            erased_at?: string;
            /** @description With `logs=1`: oldest first, at most 1,000 entries and 64 KiB of text. Empty while in the queue. */
            logs?: components["schemas"]["LogEntry"][];
            /**
             * @description The state. (enum property replaced by openapi-typescript) (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            status: "COMPLETED";
            /** @description What was measured. */
            metrics: components["schemas"]["FinalMetrics"];
            /**
             * @description Whether there is a response to fetch.
             * @example true
             */
            success: boolean;
            /** @description Why not, if not. */
            error: components["schemas"]["RequestError"] | null;
        };
        /** @description The response of a request with what there is to say about it. */
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
            /** @description Oldest first. */
            logs: components["schemas"]["LogEntry"][];
            /** @description What was measured. */
            metrics: components["schemas"]["FinalMetrics"];
        };
        /** @description What became of a cancellation. */
        CancelResult: {
            /**
             * @description CANCELLED: the request will never start, or was cancelled before. CANCELLATION_REQUESTED: it is running and was asked to stop; what it does then decides the outcome.
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
             * @description Where the response is, once the request has completed.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            response_url: string;
            /**
             * Format: uri
             * @description Where the status is read; add /stream to follow it.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status
             */
            status_url: string;
            /**
             * Format: uri
             * @description Where the request is cancelled, with PUT.
             * @example http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel
             */
            cancel_url: string;
            /**
             * @description The model that it is for.
             * @example demo/image/fractal
             */
            model_id: string;
            /**
             * Format: date-time
             * @description When it was submitted, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When its last attempt started; null: none did.
             * @example null
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description When it completed; null: it has not.
             * @example null
             */
            completed_at: string | null;
            /**
             * @description The attempt that goes on, comes next, or was the last. A start that did not reach the model counts for nothing.
             * @example 1
             */
            attempt: number;
            /**
             * @description As `key:value`, as its submission gave them.
             * @example [
             *       "job:17"
             *     ]
             */
            tags: string[];
            /**
             * Format: date-time
             * @description When it joins the queue, or did, if its submission said so.
             */
            scheduled_at?: string;
            /**
             * Format: uuid
             * @description The request that it repeats.
             */
            retry_of?: string;
            /**
             * Format: uuid
             * @description The request that repeats it; the last one of several.
             */
            retried_as?: string;
            /**
             * Format: date-time
             * @description In lists: when its content was erased.
             */
            erased_at?: string;
            /** @description With `logs=1`: oldest first, at most 1,000 entries and 64 KiB of text. Empty while in the queue. */
            logs?: components["schemas"]["LogEntry"][];
            /**
             * @description The state.
             * @example COMPLETED
             * @enum {string}
             */
            status: "COMPLETED";
            /** @description What was measured. */
            metrics: components["schemas"]["FinalMetrics"];
            /**
             * @description Whether there is a response to fetch.
             * @example true
             */
            success: boolean;
            /** @description Why not, if not. */
            error: components["schemas"]["RequestError"] | null;
            /**
             * @description The model’s output as it is, as any JSON value; absent if the request has none.
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
        /** @description A part of an output that grows, as the `data` of an event `output`. */
        OutputDelta: {
            /**
             * @description Counts from 0 within an attempt, without a hole.
             * @example 7
             */
            index: number;
            /**
             * @description Any JSON value. Strings that followed each other within 100 ms come as one.
             * @example upon a time
             */
            delta: components["schemas"]["JsonValue"];
        };
        /** @description What came before does not count: the `data` of an event `reset`. */
        OutputReset: {
            /**
             * @description The attempt that begins anew.
             * @example 2
             */
            attempt: number;
        };
        /** @description Nothing follows: the `data` of an event `done`. */
        OutputDone: {
            /**
             * @description Whether there is a response to fetch; why not, the status says.
             * @example true
             */
            success: boolean;
        };
        /** @description Of the newest successes within the last hour, in seconds. */
        TypicalTime: {
            /**
             * @description Half of them took no longer.
             * @example 2.5
             */
            p50: number;
            /**
             * @description 95 of 100 took no longer.
             * @example 4.25
             */
            p95: number;
        };
        /** @description A model that the key may call, and how much it has to do. */
        Model: {
            /**
             * @description Its id: submit with `POST /v1/queue/<id>`.
             * @example demo/image/fractal
             */
            id: string;
            /**
             * @description What it is, as the operator put it.
             * @example Draws a fractal.
             */
            description: string;
            /**
             * @description JSON Schema (draft 2020-12) of its input; null: any JSON object.
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
             * @description How many runs of it may be in progress at once, in all; null: as many as workers take.
             * @example 2
             */
            concurrency: number | null;
            /**
             * @description How many workers ask for runs of it, some seconds old; null: nodes run it.
             * @example null
             */
            workers: number | null;
            /**
             * @description How many requests wait in its queue. What is scheduled for later is not among them.
             * @example 3
             */
            waiting: number;
            /**
             * @description How many are in progress, on all nodes and workers; up to a second old.
             * @example 2
             */
            running: number;
            /**
             * @description `waiting` and `running` together: what an autoscaler goes by.
             * @example 5
             */
            load: number;
            /**
             * @description Seconds that the one has waited that waits longest; null: none waits.
             * @example 12.75
             */
            oldest_wait_s: number | null;
            /** @description How long a run takes; null: too little is known. */
            run_time: components["schemas"]["TypicalTime"] | null;
            /** @description How long a request waits for its first run; null: too little is known. */
            queue_time: components["schemas"]["TypicalTime"] | null;
            /**
             * @description Whether it takes requests now. While it is `unavailable` (away) or `paused` they wait, and may be submitted.
             * @example available
             * @enum {string}
             */
            availability: "available" | "unavailable" | "paused";
        };
        /** @description The models that the key may call. */
        ModelList: {
            /** @description In the order in which the operator listed them. */
            data: components["schemas"]["Model"][];
        };
        /** @description How many calls are allowed in a window, and what is left of them. */
        KeyLimit: {
            /**
             * @description Calls that any window of that length admits.
             * @example 10
             */
            limit: number;
            /**
             * @description The length of the window in seconds.
             * @example 1
             */
            window_s: number;
            /**
             * @description Calls that are left, over all nodes; what another node admitted in the last 10 s may not be in it yet.
             * @example 9
             */
            remaining: number;
            /**
             * @description Seconds until the oldest counted call leaves the window and makes room; 0: none is counted.
             * @example 1
             */
            reset_s: number;
        };
        /** @description All windows hold at once; an empty list is no limit. */
        KeyLimits: {
            /** @description Of submissions, the shortest window first. */
            submit: components["schemas"]["KeyLimit"][];
            /** @description Of all other calls. */
            other: components["schemas"]["KeyLimit"][];
            /** @description Of the items of calls that submit many. */
            batch: components["schemas"]["KeyLimit"][];
        };
        /** @description What the key holds, and the most that it may hold. */
        Allowance: {
            /**
             * @description What it holds now.
             * @example 2
             */
            used: number;
            /**
             * @description The most that it may hold.
             * @example 1000
             */
            max: number;
        };
        /** @description The files of the key, and how many it may have. */
        StoredAllowance: {
            /**
             * @description Bytes of its files that are stored, and of what its requests made.
             * @example 48213
             */
            bytes: number;
            /**
             * @description Its files, with those that were initiated and are still to come.
             * @example 3
             */
            files: number;
            /**
             * @description With so many bytes it may upload no more: 507 `storage_full`.
             * @example 21474836480
             */
            max_bytes: number;
            /**
             * @description With so many files it may upload no more.
             * @example 100000
             */
            max_files: number;
        };
        /** @description What the key holds, and may hold. Bytes in memory and streams are those of the node that answers; each node counts its own. */
        KeyAllowances: {
            /** @description Bytes in memory: bodies, inflated, and answers that have not been read. */
            bytes: components["schemas"]["Allowance"];
            /** @description Open streams, and calls that are held (`Prefer: wait`). */
            streams: components["schemas"]["Allowance"];
            /** @description Its files, over all nodes. */
            stored: components["schemas"]["StoredAllowance"];
        };
        /** @description What the API key may do that the call was made with. */
        Key: {
            /**
             * Format: uuid
             * @description Its id, which is no secret.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * @description Its name, as the operator gave it.
             * @example web shop
             */
            name: string;
            /**
             * @description `submit` sends requests; `read` is status, stream, response, models; `cancel` cancels; `work` runs requests of its models.
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
             * @description Ids of models, and `acme/*` for all below `acme/`; null: all models.
             * @example [
             *       "acme/*"
             *     ]
             */
            models: string[] | null;
            /** @description Its rate limits. */
            limits: components["schemas"]["KeyLimits"];
            /** @description What it holds, and may hold. */
            allowances: components["schemas"]["KeyAllowances"];
            /**
             * @description The highest priority that it may submit with.
             * @example high
             * @enum {string}
             */
            max_priority: "high" | "normal" | "low";
            /**
             * @description How many of its requests may wait; null: any number.
             * @example 1000
             */
            max_waiting: number | null;
            /**
             * @description How many of its requests for one model run at once; null: any number.
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
             * @description When it expires, in UTC; null: never.
             * @example 2030-12-31T00:00:00.000Z
             */
            expires_at: string | null;
            /**
             * @description With the scope `submit`: what its webhooks are signed with, as Standard Webhooks has it. While it is rotated, the new one.
             * @example whsec_bm90IGEgc2VjcmV0LCBqdXN0IGFuIGV4YW1wbGUhISE=
             */
            webhook_secret?: string;
        };
        /** @description The file as it was stored. */
        StoredFile: {
            /**
             * @description Its size in bytes.
             * @example 48213
             */
            size: number;
            /**
             * @description The SHA-256 of its bytes, in hexadecimal; its ETag too.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            sha256: string;
        };
        /** @description The process answers. */
        Liveness: {
            /**
             * @description Always the same: an answer is the news.
             * @example ok
             * @enum {string}
             */
            status: "ok";
        };
        /** @description One thing that readiness depends on. */
        ReadinessCheck: {
            /**
             * @description Whether it is as it should be.
             * @example up
             * @enum {string}
             */
            status: "up" | "down";
        };
        /** @description Everything that readiness depends on. */
        ReadinessChecks: {
            /** @description The database answers within two seconds. */
            database: components["schemas"]["ReadinessCheck"];
            /** @description The schema is the one this version needs. */
            migrations: components["schemas"]["ReadinessCheck"];
            /** @description The files that there are can be read by this node, or there are none. */
            files: components["schemas"]["ReadinessCheck"];
            /** @description The database's disk takes what is written, and the embedded one has room to go on. */
            storage: components["schemas"]["ReadinessCheck"];
            /** @description The service is not shutting down. */
            accepting: components["schemas"]["ReadinessCheck"];
        };
        /** @description The service can take requests. */
        Readiness: {
            /**
             * @description Anything else is a 503.
             * @example ok
             * @enum {string}
             */
            status: "ok";
            /** @description What was looked at. */
            checks: components["schemas"]["ReadinessChecks"];
            /**
             * @description What is wrong although requests can be taken, as where no node runs them; absent: nothing.
             * @example [
             *       "No node runs requests: they wait. Start one with ROLE=all or ROLE=scheduler, or end a drain."
             *     ]
             */
            notes?: string[];
        };
        /** @description Whose key the call brings, by itself or by a session. */
        SignedIn: {
            /**
             * Format: uuid
             * @description The id of the key.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            key_id: string;
            /**
             * @description The name of the key, or of the person whose it is.
             * @example ops
             */
            name: string;
            /**
             * @description All that it may; `admin` brings all others, `payloads` brings `observe`.
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
             * @description When the session ends by itself, in UTC; null: there is none.
             * @example 2030-12-31T00:00:00.000Z
             */
            expires_at: string | null;
        };
        /** @description Another way to sign in: OpenID Connect. */
        OidcOffer: {
            /**
             * @description What the provider is called.
             * @example id.example.org
             */
            name: string;
            /**
             * Format: uri
             * @description Where a browser is sent to sign in.
             * @example http://127.0.0.1:3000/v1/admin/session/oidc
             */
            url: string;
        };
        /** @description Who is signed in, and how one can sign in besides with a key. */
        Session: {
            /** @description Who calls; null: nobody who is known. */
            signed_in: components["schemas"]["SignedIn"] | null;
            /** @description null: only keys and links sign in. */
            oidc: components["schemas"]["OidcOffer"] | null;
        };
        /** @description One of the two. */
        SignIn: {
            /**
             * @description An API key.
             * @example ns_…
             */
            key?: string;
            /**
             * @description What follows `#link=` in a link that signs in once.
             * @example p2s…
             */
            link?: string;
        };
        /** @description A browser that is signed in. */
        AdminSession: {
            /**
             * Format: uuid
             * @description Its id, which is no secret.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * Format: uuid
             * @description The key that it stands for.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            key_id: string;
            /**
             * @description The name of that key.
             * @example ops
             */
            name: string | null;
            /**
             * @description From where it was begun.
             * @example 192.0.2.7
             */
            address: string | null;
            /**
             * @description What the browser said it was.
             * @example Mozilla/5.0
             */
            user_agent: string | null;
            /**
             * Format: date-time
             * @description When it was begun, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it ends by itself, in UTC.
             * @example 2026-03-02T00:00:00.000Z
             */
            expires_at: string;
            /**
             * @description Whether it is the one of this call.
             * @example false
             */
            is_current: boolean;
        };
        /** @description Sessions that go on, the newest first. */
        AdminSessionPage: {
            /** @description The sessions. */
            data: components["schemas"]["AdminSession"][];
            /**
             * @description The `cursor` of the next page; null: this is the last.
             * @example null
             */
            next_cursor: string | null;
        };
        /** @description The rate limits of a key as they are set. */
        KeyLimitTexts: {
            /**
             * @description Of submissions, such as `50/s,1000/m`, or `off`; null: those of the service.
             * @example 50/s,1000/m
             */
            submit?: string | null;
            /**
             * @description Of all other calls, such as `50/s,1000/m`, or `off`; null: those of the service.
             * @example null
             */
            other?: string | null;
            /**
             * @description Of the items of batches, such as `50/s,1000/m`, or `off`; null: those of the service.
             * @example null
             */
            batch?: string | null;
        };
        /** @description A key as an operator sees it. Its secret is kept nowhere. */
        AdminKey: {
            /**
             * Format: uuid
             * @description Its id, which is no secret.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * @description What it is called.
             * @example web shop
             */
            name: string;
            /**
             * @description The first characters of its secret.
             * @example ns_1a2b3c4
             */
            prefix: string;
            /**
             * @description Whether it is taken.
             * @example valid
             * @enum {string}
             */
            state: "valid" | "revoked" | "expired";
            /**
             * @description Whose it is, where somebody signs in by OpenID Connect: issuer and subject; else null.
             * @example null
             */
            subject: string | null;
            /**
             * @description What it may.
             * @example [
             *       "submit",
             *       "read"
             *     ]
             */
            scopes: ("submit" | "read" | "cancel" | "work" | "observe" | "payloads" | "admin")[];
            /**
             * @description Ids of models, and `acme/*` for all below `acme/`; null: all.
             * @example [
             *       "acme/*"
             *     ]
             */
            models: string[] | null;
            /** @description Its rate limits; null: those of the service. */
            limits: components["schemas"]["KeyLimitTexts"];
            /** @description What is left of those that hold, as far as this node knows. */
            quota: components["schemas"]["KeyLimits"];
            /**
             * @description The highest priority that it may submit with.
             * @example high
             * @enum {string}
             */
            max_priority: "high" | "normal" | "low";
            /**
             * @description How many of its requests may wait; null: any number.
             * @example 1000
             */
            max_waiting: number | null;
            /**
             * @description How many of its requests for one model run at once; null: any number.
             * @example 3
             */
            max_running: number | null;
            /**
             * @description The weight of its turns, where keys share a model.
             * @example 1
             */
            weight: number;
            /**
             * @description Its requests that wait, of those that were counted: 10,000 stands for so many or more.
             * @example 12
             */
            waiting: number;
            /**
             * @description Its requests that run.
             * @example 3
             */
            running: number;
            /**
             * @description Its requests since midnight in UTC, up to 2 s old.
             * @example 480
             */
            requests_today: number;
            /**
             * @description Its requests of today and of the 29 days before, in UTC.
             * @example 12480
             */
            requests_last_30_days: number;
            /**
             * Format: date-time
             * @description When it was made, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it expires, in UTC; null: never.
             * @example null
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked, in UTC; null: it was not.
             * @example null
             */
            revoked_at: string | null;
            /**
             * Format: date-time
             * @description When it was last used, in UTC, to a minute; null: never.
             * @example null
             */
            last_used_at: string | null;
        };
        /** @description Keys, the newest first. */
        AdminKeyPage: {
            /** @description The keys. */
            data: components["schemas"]["AdminKey"][];
            /**
             * @description The `cursor` of the next page; null: this is the last.
             * @example null
             */
            next_cursor: string | null;
        };
        /** @description Without `scopes` it has submit, read and cancel; of the rest what is left out is as with null. */
        NewKey: {
            /**
             * @description What it is called.
             * @example web shop
             */
            name?: string;
            /**
             * @description What it may.
             * @example [
             *       "submit",
             *       "read"
             *     ]
             */
            scopes?: ("submit" | "read" | "cancel" | "work" | "observe" | "payloads" | "admin")[];
            /**
             * @description Ids of models, and `acme/*` for all below `acme/`; null: all.
             * @example [
             *       "acme/*"
             *     ]
             */
            models?: string[] | null;
            /** @description Its rate limits; null: those of the service. */
            limits?: components["schemas"]["KeyLimitTexts"] | null;
            /**
             * @description Of what it submits; null: high.
             * @example normal
             * @enum {string|null}
             */
            max_priority?: "high" | "normal" | "low" | null;
            /**
             * @description How many of its requests may wait; null: any number.
             * @example 1000
             */
            max_waiting?: number | null;
            /**
             * @description How many of its requests for one model run at once; null: any number.
             * @example 3
             */
            max_running?: number | null;
            /**
             * @description Of its turns, where keys share a model; null: 1.
             * @example 1
             */
            weight?: number | null;
            /**
             * @description After a duration such as `90d`, or at a time as in RFC 3339; null: never.
             * @example 90d
             */
            expires?: string | null;
            /**
             * @description Why, for the audit.
             * @example asked for by its owner
             */
            reason?: string | null;
        };
        /** @description A key that was just made. */
        MadeKey: {
            /**
             * Format: uuid
             * @description Its id, which is no secret.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * @description What it is called.
             * @example web shop
             */
            name: string;
            /**
             * @description The first characters of its secret.
             * @example ns_1a2b3c4
             */
            prefix: string;
            /**
             * @description Whether it is taken.
             * @example valid
             * @enum {string}
             */
            state: "valid" | "revoked" | "expired";
            /**
             * @description Whose it is, where somebody signs in by OpenID Connect: issuer and subject; else null.
             * @example null
             */
            subject: string | null;
            /**
             * @description What it may.
             * @example [
             *       "submit",
             *       "read"
             *     ]
             */
            scopes: ("submit" | "read" | "cancel" | "work" | "observe" | "payloads" | "admin")[];
            /**
             * @description Ids of models, and `acme/*` for all below `acme/`; null: all.
             * @example [
             *       "acme/*"
             *     ]
             */
            models: string[] | null;
            /** @description Its rate limits; null: those of the service. */
            limits: components["schemas"]["KeyLimitTexts"];
            /** @description What is left of those that hold, as far as this node knows. */
            quota: components["schemas"]["KeyLimits"];
            /**
             * @description The highest priority that it may submit with.
             * @example high
             * @enum {string}
             */
            max_priority: "high" | "normal" | "low";
            /**
             * @description How many of its requests may wait; null: any number.
             * @example 1000
             */
            max_waiting: number | null;
            /**
             * @description How many of its requests for one model run at once; null: any number.
             * @example 3
             */
            max_running: number | null;
            /**
             * @description The weight of its turns, where keys share a model.
             * @example 1
             */
            weight: number;
            /**
             * @description Its requests that wait, of those that were counted: 10,000 stands for so many or more.
             * @example 12
             */
            waiting: number;
            /**
             * @description Its requests that run.
             * @example 3
             */
            running: number;
            /**
             * @description Its requests since midnight in UTC, up to 2 s old.
             * @example 480
             */
            requests_today: number;
            /**
             * @description Its requests of today and of the 29 days before, in UTC.
             * @example 12480
             */
            requests_last_30_days: number;
            /**
             * Format: date-time
             * @description When it was made, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it expires, in UTC; null: never.
             * @example null
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked, in UTC; null: it was not.
             * @example null
             */
            revoked_at: string | null;
            /**
             * Format: date-time
             * @description When it was last used, in UTC, to a minute; null: never.
             * @example null
             */
            last_used_at: string | null;
            /**
             * @description The key itself. It cannot be shown again.
             * @example ns_…
             */
            key: string;
        };
        /** @description What is left out stays; null takes back what was set. */
        KeyChanges: {
            /**
             * @description What it is called.
             * @example web shop
             */
            name?: string;
            /**
             * @description What it may.
             * @example [
             *       "submit",
             *       "read"
             *     ]
             */
            scopes?: ("submit" | "read" | "cancel" | "work" | "observe" | "payloads" | "admin")[];
            /**
             * @description Ids of models, and `acme/*` for all below `acme/`; null: all.
             * @example [
             *       "acme/*"
             *     ]
             */
            models?: string[] | null;
            /** @description Its rate limits; null: those of the service. */
            limits?: components["schemas"]["KeyLimitTexts"] | null;
            /**
             * @description Of what it submits; null: high.
             * @example normal
             * @enum {string|null}
             */
            max_priority?: "high" | "normal" | "low" | null;
            /**
             * @description How many of its requests may wait; null: any number.
             * @example 1000
             */
            max_waiting?: number | null;
            /**
             * @description How many of its requests for one model run at once; null: any number.
             * @example 3
             */
            max_running?: number | null;
            /**
             * @description Of its turns, where keys share a model; null: 1.
             * @example 1
             */
            weight?: number | null;
            /**
             * @description After a duration such as `90d`, or at a time as in RFC 3339; null: never.
             * @example 90d
             */
            expires?: string | null;
            /**
             * @description Why, for the audit.
             * @example asked for by its owner
             */
            reason?: string | null;
        };
        /** @description With what the webhooks of a key are signed. */
        WebhookSecrets: {
            /**
             * @description Those that count now, the newest first: two for a day after one was rotated.
             * @example [
             *       "whsec_…"
             *     ]
             */
            secrets: string[];
        };
        /** @description Who did it, and from where. */
        AuditActor: {
            /**
             * Format: uuid
             * @description The id of the key; null: none, such as at a failed sign-in or on the command line.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            key_id: string | null;
            /**
             * @description The name of the key as it was then.
             * @example ops
             */
            name: string;
            /**
             * Format: uuid
             * @description The session that stood for the key; null: the key itself.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            session_id: string | null;
            /**
             * @description The address of the caller.
             * @example 192.0.2.7
             */
            address: string | null;
            /**
             * @description What the client said it was.
             * @example curl/8.5.0
             */
            user_agent: string | null;
        };
        /** @description Something that an operator did, or was refused. */
        AuditEntry: {
            /**
             * Format: uuid
             * @description Its id; ids are in the order of time.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * Format: date-time
             * @description When, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            at: string;
            /**
             * @description What.
             * @example key.create
             * @enum {string}
             */
            action: "model.pause" | "model.resume" | "model.concurrency" | "models.reload" | "key.create" | "key.update" | "key.revoke" | "node.drain" | "node.undrain" | "worker.drain" | "worker.resume" | "worker.stop" | "request.cancel" | "request.retry" | "request.erase" | "payload.read" | "operation.start" | "operation.stop" | "delivery.redeliver" | "secret.read" | "secret.rotate" | "endpoint.create" | "endpoint.remove" | "endpoint.disable" | "endpoint.enable" | "session.begin" | "session.refuse" | "session.end" | "session.link" | "access.refuse" | "audit.export";
            /**
             * @description To what: an id, or the method and path of a refused call.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            target: string | null;
            /** @description By whom. */
            actor: components["schemas"]["AuditActor"];
            /**
             * @description The `X-Request-Id` of the call.
             * @example 6a1f0f0e-5b0d-4a53-9b77-6d1f6f4f2c55
             */
            http_request_id: string | null;
            /**
             * @description What was changed, as it was before.
             * @example {
             *       "weight": 1
             *     }
             */
            before: {
                [key: string]: unknown;
            } | null;
            /**
             * @description The same as it was then.
             * @example {
             *       "weight": 2
             *     }
             */
            after: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Why, where that was said.
             * @example web shop pays for it
             */
            reason: string | null;
        };
        /** @description What was audited, the newest first. */
        AuditPage: {
            /** @description The entries. */
            data: components["schemas"]["AuditEntry"][];
            /**
             * @description The `cursor` of the next page; null: this is the last.
             * @example null
             */
            next_cursor: string | null;
        };
        /** @description What is known of the times of a request, in seconds. */
        AnyMetrics: {
            /**
             * @description Once it started: how long it waited.
             * @example 0.042
             */
            queue_time?: number;
            /**
             * @description Once it completed: how long it ran; null: it did not.
             * @example 2.513
             */
            inference_time?: number | null;
        };
        /** @description A request of any key, as operators see it. Without the scope `payloads` its ids are handles, which only `/v1/admin` takes, and of what its caller and its model wrote it has the tags and the message of its error alone. */
        AnyRequest: {
            /**
             * @description The id, or a handle in its place.
             * @example rh_Zm9vYmFyYmF6cXV4LTAxMg
             */
            request_id: string;
            /**
             * @description The handle, as the log and the audit have it.
             * @example rh_Zm9vYmFyYmF6cXV4LTAxMg
             */
            handle: string;
            /**
             * @description The state.
             * @example COMPLETED
             * @enum {string}
             */
            status: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED";
            /**
             * @description How it ended; null: it has not.
             * @example failed
             * @enum {string|null}
             */
            outcome: "succeeded" | "failed" | "cancelled" | "expired" | null;
            /**
             * @description The model that it is for.
             * @example demo/image/fractal
             */
            model_id: string;
            /** @description Whose it is. */
            key: components["schemas"]["KeyName"];
            /**
             * @description The name of the node, or the worker, where it runs, or ran last; null: nowhere yet.
             * @example gpu-2
             */
            node: string | null;
            /**
             * @description Its priority.
             * @example normal
             * @enum {string}
             */
            priority: "high" | "normal" | "low";
            /**
             * Format: date-time
             * @description When it was submitted.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When its last attempt started; null: none did.
             * @example null
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description When it completed; null: it has not.
             * @example null
             */
            completed_at: string | null;
            /**
             * @description The attempt that goes on, comes next, or was the last.
             * @example 1
             */
            attempt: number;
            /**
             * @description As its submission gave them.
             * @example [
             *       "job:17"
             *     ]
             */
            tags: string[];
            /** @description How long it took so far. */
            metrics: components["schemas"]["AnyMetrics"];
            /** @description While it waits: how many start before it. */
            queue_position?: number;
            /**
             * @description While it waits: for what.
             * @enum {string}
             */
            reason?: "busy" | "unavailable" | "paused" | "scheduled" | "retrying";
            /** @description As in the status of its caller. */
            estimated_start?: components["schemas"]["TimeSpan"];
            /** @description As in the status of its caller. */
            estimated_end?: components["schemas"]["TimeSpan"];
            /** @description How far its run is; its message only with `payloads`. */
            progress?: components["schemas"]["Progress"];
            /** @description Once it completed. */
            success?: boolean;
            /** @description Why, also in the words of its model. */
            error?: components["schemas"]["RequestError"] | null;
            /**
             * Format: date-time
             * @description When it joins the queue, or did.
             */
            scheduled_at?: string;
            /** @description The request that it repeats. */
            retry_of?: string;
            /** @description The request that repeats it. */
            retried_as?: string;
            /**
             * Format: date-time
             * @description When its content was erased.
             */
            erased_at?: string;
            /**
             * @description With `payloads`: of the first picture in its output, if there is one.
             * @example image/png
             */
            output_type?: string | null;
        };
        /** @description What failed of one model with one code and status. */
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
             * @description How many, of those that were counted.
             * @example 12
             */
            count: number;
            /**
             * @description The message of the last of them.
             * @example The model answered 500: no memory
             */
            message: string | null;
            /**
             * Format: date-time
             * @description When the last of them completed.
             * @example 2026-03-01T12:00:00.000Z
             */
            last_at: string;
        };
        /** @description How many there are, and of those that failed, why. */
        FoundCount: {
            /**
             * @description How many, at most 10,000.
             * @example 312
             */
            value: number;
            /**
             * @description false: there are so many at least.
             * @example true
             */
            is_exact: boolean;
            /** @description With `outcome=failed`: by model and code, most often first, at most 20. */
            failures?: components["schemas"]["FailureCount"][];
        };
        /** @description A page of the requests of all keys. */
        AnyRequestPage: {
            /** @description Newest first. There may be fewer than asked for, also none, where `next_cursor` is no null. */
            data: components["schemas"]["AnyRequest"][];
            /**
             * @description The `cursor` of the next page; null: this is the last one.
             * @example null
             */
            next_cursor: string | null;
            /** @description On the first page: how many the filter finds. */
            count?: components["schemas"]["FoundCount"];
        };
        /** @description The same, with the sizes of its payloads. */
        AnyRequestDetails: {
            /**
             * @description The id, or a handle in its place.
             * @example rh_Zm9vYmFyYmF6cXV4LTAxMg
             */
            request_id: string;
            /**
             * @description The handle, as the log and the audit have it.
             * @example rh_Zm9vYmFyYmF6cXV4LTAxMg
             */
            handle: string;
            /**
             * @description The state.
             * @example COMPLETED
             * @enum {string}
             */
            status: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED";
            /**
             * @description How it ended; null: it has not.
             * @example failed
             * @enum {string|null}
             */
            outcome: "succeeded" | "failed" | "cancelled" | "expired" | null;
            /**
             * @description The model that it is for.
             * @example demo/image/fractal
             */
            model_id: string;
            /** @description Whose it is. */
            key: components["schemas"]["KeyName"];
            /**
             * @description The name of the node, or the worker, where it runs, or ran last; null: nowhere yet.
             * @example gpu-2
             */
            node: string | null;
            /**
             * @description Its priority.
             * @example normal
             * @enum {string}
             */
            priority: "high" | "normal" | "low";
            /**
             * Format: date-time
             * @description When it was submitted.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When its last attempt started; null: none did.
             * @example null
             */
            started_at: string | null;
            /**
             * Format: date-time
             * @description When it completed; null: it has not.
             * @example null
             */
            completed_at: string | null;
            /**
             * @description The attempt that goes on, comes next, or was the last.
             * @example 1
             */
            attempt: number;
            /**
             * @description As its submission gave them.
             * @example [
             *       "job:17"
             *     ]
             */
            tags: string[];
            /** @description How long it took so far. */
            metrics: components["schemas"]["AnyMetrics"];
            /** @description While it waits: how many start before it. */
            queue_position?: number;
            /**
             * @description While it waits: for what.
             * @enum {string}
             */
            reason?: "busy" | "unavailable" | "paused" | "scheduled" | "retrying";
            /** @description As in the status of its caller. */
            estimated_start?: components["schemas"]["TimeSpan"];
            /** @description As in the status of its caller. */
            estimated_end?: components["schemas"]["TimeSpan"];
            /** @description How far its run is; its message only with `payloads`. */
            progress?: components["schemas"]["Progress"];
            /** @description Once it completed. */
            success?: boolean;
            /** @description Why, also in the words of its model. */
            error?: components["schemas"]["RequestError"] | null;
            /**
             * Format: date-time
             * @description When it joins the queue, or did.
             */
            scheduled_at?: string;
            /** @description The request that it repeats. */
            retry_of?: string;
            /** @description The request that repeats it. */
            retried_as?: string;
            /**
             * Format: date-time
             * @description When its content was erased.
             */
            erased_at?: string;
            /**
             * @description With `payloads`: of the first picture in its output, if there is one.
             * @example image/png
             */
            output_type?: string | null;
            /**
             * @description Bytes of JSON; null: there is none, or it is kept no longer.
             * @example 42
             */
            input_bytes: number | null;
            /**
             * @description The same of the output.
             * @example 31457280
             */
            output_bytes: number | null;
            /**
             * @description While it waits for its own key: so many of the key may run of the model at once, and do.
             * @example 2
             */
            held_at?: number;
        };
        /** @description One thing that happened to a request. */
        LifeEvent: {
            /**
             * @description In their order; 0: its submission.
             * @example 0
             */
            id: number;
            /**
             * Format: date-time
             * @description When.
             * @example 2026-03-01T12:00:00.000Z
             */
            at: string;
            /**
             * @description What.
             * @example started
             * @enum {string}
             */
            kind: "submitted" | "started" | "requeued" | "cancel_requested" | "completed";
            /**
             * @description The number of the start that it belongs to.
             * @example 1
             */
            attempt: number;
            /**
             * @description The name of the node, or the worker, that ran it.
             * @example gpu-2
             */
            node: string | null;
            /**
             * @description How that run ended, or the request while it waited; null: nothing ended.
             * @example lost
             * @enum {string|null}
             */
            outcome: "succeeded" | "failed" | "timed_out" | "cancelled" | "expired" | "returned" | "lost" | "unreached" | null;
            /**
             * @description Why, as the code of an error.
             * @example model_error
             * @enum {string|null}
             */
            code: "bad_request" | "invalid_json" | "invalid_query" | "invalid_upload" | "not_completed" | "already_completed" | "missing_key" | "invalid_key" | "sign_in_refused" | "forbidden" | "invalid_upload_url" | "rate_limited" | "not_found" | "unknown_model" | "unknown_id" | "unknown_request" | "unknown_file" | "unknown_operation" | "method_not_allowed" | "conflict" | "claim_conflict" | "gone" | "lease_lost" | "worker_stopped" | "changed_meanwhile" | "body_too_large" | "too_large" | "unsupported_encoding" | "range_not_satisfiable" | "invalid_input" | "invalid_models_file" | "idempotency_key_reused" | "invalid_idempotency_key" | "cancelled" | "too_slow" | "caller_busy" | "queue_full" | "worker_resting" | "internal_error" | "model_error" | "model_unavailable" | "node_lost" | "worker_lost" | "unavailable" | "overloaded" | "model_paused" | "timed_out" | "expired" | "storage_full" | null;
            /**
             * @description Why, also in the words of the model.
             * @example The model answered 500: no memory
             */
            message: string | null;
            /**
             * Format: date-time
             * @description When that run ended.
             * @example null
             */
            ended_at: string | null;
            /**
             * Format: date-time
             * @description Of what was requeued: when the pause before the next attempt was or will be over; null: it had none.
             * @example null
             */
            until: string | null;
        };
        /** @description From when on it was where. */
        PositionPoint: {
            /**
             * Format: date-time
             * @description From when on.
             * @example 2026-03-01T12:00:00.000Z
             */
            at: string;
            /**
             * @description How many were to start before it.
             * @example 12
             */
            position: number;
        };
        /** @description What happened to a request, oldest first, without its log. */
        Life: {
            /** @description Oldest first. */
            data: components["schemas"]["LifeEvent"][];
            /** @description How it moved up: at most 60 points, by the starts that are kept. Empty where that would cost too much. */
            positions: components["schemas"]["PositionPoint"][];
        };
        /** @description A line of the log of a request. */
        AnyLogEntry: {
            /**
             * @description What was said.
             * @example Drawing line 120 of 512
             */
            message: string;
            /**
             * @description How severe it is.
             * @example INFO
             * @enum {string}
             */
            level: "DEBUG" | "INFO" | "WARN" | "ERROR";
            /**
             * @description Who said it: the queue, the runner, or the model on one of its outputs.
             * @example runner
             * @enum {string}
             */
            source: "queue" | "runner" | "stdout" | "stderr";
            /**
             * Format: date-time
             * @description When, in UTC with milliseconds.
             * @example 2026-03-01T12:00:01.250Z
             */
            timestamp: string;
            /**
             * @description In their order.
             * @example 17
             */
            id: number;
            /**
             * @description The number of the start that said it.
             * @example 1
             */
            attempt: number;
        };
        /** @description A page of a log. */
        AnyLogPage: {
            /** @description Oldest first, at most 1,000. */
            data: components["schemas"]["AnyLogEntry"][];
            /**
             * @description The `cursor` of the next page; null: this is the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        /** @description One action on many requests, and how far it is. */
        Operation: {
            /**
             * Format: uuid
             * @description Its id.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string;
            /**
             * @description What is done with each.
             * @example cancel
             * @enum {string}
             */
            action: "cancel" | "retry" | "erase";
            /**
             * @description Where it stands. `collecting`: its requests are being found.
             * @example running
             * @enum {string}
             */
            state: "collecting" | "running" | "stopping" | "stopped" | "done";
            /**
             * @description As it was started; of `ids` how many, and `id_prefix` with the scope `payloads` alone.
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
             * @description How many requests the filter finds, of those of when it was started; while it is `collecting`, so far.
             * @example 312
             */
            total: number;
            /**
             * @description Of those: done.
             * @example 200
             */
            done: number;
            /**
             * @description No longer fit for it when their turn came.
             * @example 2
             */
            skipped: number;
            /**
             * @description Not done, for the reason in `last_error`.
             * @example 0
             */
            failed: number;
            /**
             * @description Of the last that failed.
             * @example null
             */
            last_error: string | null;
            /**
             * @description Why, as it was given.
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
             * @description When it was started.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was over.
             * @example null
             */
            ended_at: string | null;
        };
        /** @description A page of operations. */
        OperationPage: {
            /** @description Newest first. */
            data: components["schemas"]["Operation"][];
            /**
             * @description The `cursor` of the next page; null: this is the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        /** @description Which requests of all keys; all that are given must fit. */
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
             * @description Only requests that ended so.
             * @example failed
             * @enum {string}
             */
            outcome?: "succeeded" | "failed" | "cancelled" | "expired";
            /**
             * @description Only requests with this tag, `key:value`; of several, with all of them.
             * @example [
             *       "job:17"
             *     ]
             */
            tag?: string[];
            /**
             * Format: date-time
             * @description RFC 3339: only requests submitted then or later.
             */
            created_after?: string;
            /**
             * Format: date-time
             * @description RFC 3339: only requests submitted before.
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
             * @description Only requests that run on the node or the worker of this name, or ran.
             * @example gpu-2
             */
            node?: string;
            /**
             * @description Only requests whose id begins so. Without the scope `payloads` a whole handle, `rh_…`.
             * @example 0198f3c2
             */
            id_prefix?: string;
            /** @description These alone: ids or handles. */
            ids?: string[];
        };
        /** @description An action on all requests that a filter finds. */
        StartOperation: {
            /**
             * @description What to do with each.
             * @example cancel
             * @enum {string}
             */
            action: "cancel" | "retry" | "erase";
            /** @description As in the list; all that are given must fit. */
            filter?: components["schemas"]["AnyRequestFilter"];
            /**
             * @description An empty filter means every request, if this is true.
             * @default false
             */
            all?: boolean;
            /**
             * @description Only counts them, and shows three.
             * @default false
             */
            validate_only?: boolean;
            /** @description Why, for the audit. */
            reason?: string;
        };
        /** @description A count that looks at so many rows at most. */
        BoundedCount: {
            /**
             * @description How many, at most 10,000.
             * @example 312
             */
            value: number;
            /**
             * @description false: there are so many at least.
             * @example true
             */
            is_exact: boolean;
        };
        /** @description What an operation would be about. */
        OperationPreview: {
            /** @description How many. */
            count: components["schemas"]["BoundedCount"];
            /** @description The newest three. */
            sample: components["schemas"]["AnyRequest"][];
        };
        /** @description What one receiver is sent of one request of any key. Without the scope `payloads` there are handles in place of ids, no queries of URLs, and nothing that the receiver answered but its status. */
        AnyDelivery: {
            /**
             * @description Its name for `/v1/admin/deliveries`.
             * @example rh_Zm9vYmFyYmF6cXV4LTAxMg.7d1b5a0e-2c64-4a8e-9f35-0b6c1d2e3f40
             */
            id: string;
            /**
             * Format: uuid
             * @description What each try sends as `webhook-id`.
             * @example 7d1b5a0e-2c64-4a8e-9f35-0b6c1d2e3f40
             */
            message_id: string;
            /**
             * @description The id of the request, or a handle in its place.
             * @example rh_Zm9vYmFyYmF6cXV4LTAxMg
             */
            request_id: string;
            /**
             * @description The model of the request; null: it is gone.
             * @example demo/image/fractal
             */
            model_id: string | null;
            /** @description Whose request it is. */
            key: components["schemas"]["KeyName"];
            /**
             * Format: uuid
             * @description The endpoint of the key; null: the request itself named the URL.
             * @example null
             */
            webhook_id: string | null;
            /**
             * @description Where it goes.
             * @example https://example.org/hook
             */
            url: string;
            /**
             * @description As in the list of its request.
             * @example failed
             * @enum {string}
             */
            state: "pending" | "delivered" | "failed" | "ended";
            /** @description Oldest first; the last hundred. */
            tries: components["schemas"]["WebhookTry"][];
            /**
             * Format: date-time
             * @description While it is pending: when it is tried next.
             * @example null
             */
            next_try_at: string | null;
            /**
             * Format: date-time
             * @description When it was made, with the completion.
             * @example 2026-03-01T12:00:00.000Z
             */
            created_at: string;
        };
        /** @description A page of deliveries. */
        AnyDeliveryPage: {
            /** @description Those of the newest requests first. There may be fewer than asked for, also none, where `next_cursor` is no null. */
            data: components["schemas"]["AnyDelivery"][];
            /**
             * @description The `cursor` of the next page; null: this is the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        /** @description Where webhooks go: an endpoint of a key, or a host of URLs that requests named. */
        Receiver: {
            /**
             * Format: uuid
             * @description The id of the endpoint; null: a host of URLs that requests named.
             * @example 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            id: string | null;
            /**
             * @description The URL of the endpoint; null for such a host.
             * @example https://example.org/hook
             */
            url: string | null;
            /**
             * @description The host, with its port if the URL has one; empty for URLs of an unusual form.
             * @example example.org
             */
            host: string;
            /** @description Whose endpoint it is; null for such a host. */
            key: components["schemas"]["KeyName"] | null;
            /**
             * Format: date-time
             * @description Since when it is sent nothing new: an operator said so, or it answered 410.
             * @example null
             */
            disabled_at: string | null;
            /**
             * @description What is still to be delivered.
             * @example 3
             */
            pending: number;
            /**
             * @description false: so many at least.
             * @example true
             */
            is_pending_exact: boolean;
            /**
             * @description What arrived in the last 24 hours.
             * @example 1204
             */
            delivered_last_day: number;
            /**
             * @description What was given up in that time: no tries were left, or it answered 410.
             * @example 0
             */
            failed_last_day: number;
            /**
             * @description The tries that failed in that time.
             * @example 7
             */
            failed_tries_last_day: number;
            /**
             * @description The status of its last answer; null: none came, or it was not called for a week.
             * @example 503
             */
            last_status: number | null;
            /**
             * @description Why no answer came to the last try.
             * @example null
             */
            last_error: string | null;
            /**
             * Format: date-time
             * @description When the last try was.
             * @example 2026-03-01T12:00:00.000Z
             */
            last_at: string | null;
            /**
             * Format: date-time
             * @description When the next try is due; null: nothing is pending.
             * @example null
             */
            next_try_at: string | null;
        };
        /** @description A page of receivers. */
        ReceiverPage: {
            /** @description The endpoints of keys, newest first, and then the hosts that requests named, by name. */
            data: components["schemas"]["Receiver"][];
            /**
             * @description The `cursor` of the next page; null: this is the last one.
             * @example null
             */
            next_cursor: string | null;
        };
        /** @description Whether an endpoint is sent anything new. */
        ChangeEndpoint: {
            /**
             * @description true: completions from now on are not sent there.
             * @example true
             */
            disabled: boolean;
            /** @description Why, for the audit. */
            reason?: string | null;
        };
        /** @description What went wrong, as RFC 9457 has it. Decide by `code`; it is stable. */
        Problem: {
            /**
             * Format: uri-reference
             * @description Names the kind of problem and says where it is described.
             * @example /docs/errors#unknown_request
             */
            type: string;
            /**
             * @description The kind of problem in words, always the same.
             * @example No such request
             */
            title: string;
            /**
             * @description The status of the answer.
             * @example 404
             */
            status: number;
            /**
             * @description This problem in words.
             * @example There is no request 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.
             */
            detail: string;
            /**
             * Format: uri-reference
             * @description The path that was called; empty if the call was no readable HTTP.
             * @example /v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            instance: string;
            /**
             * @description The stable name of the kind of problem.
             * @example unknown_request
             * @enum {string}
             */
            code: "bad_request" | "invalid_json" | "invalid_query" | "invalid_upload" | "not_completed" | "already_completed" | "missing_key" | "invalid_key" | "sign_in_refused" | "forbidden" | "invalid_upload_url" | "rate_limited" | "not_found" | "unknown_model" | "unknown_id" | "unknown_request" | "unknown_file" | "unknown_operation" | "method_not_allowed" | "conflict" | "claim_conflict" | "gone" | "lease_lost" | "worker_stopped" | "changed_meanwhile" | "body_too_large" | "too_large" | "unsupported_encoding" | "range_not_satisfiable" | "invalid_input" | "invalid_models_file" | "idempotency_key_reused" | "invalid_idempotency_key" | "cancelled" | "too_slow" | "caller_busy" | "queue_full" | "worker_resting" | "internal_error" | "model_error" | "model_unavailable" | "node_lost" | "worker_lost" | "unavailable" | "overloaded" | "model_paused" | "timed_out" | "expired" | "storage_full";
            /**
             * Format: date-time
             * @description When it went wrong, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            timestamp: string;
            /** @description With `invalid_input`: everything that does not fit the schema of the model. */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What the model itself said, as any JSON value.
             * @example {
             *       "reason": "the prompt was refused"
             *     }
             */
            details?: components["schemas"]["JsonValue"];
        };
        /** @description As `Problem`, and the word that a cancellation answers with: the other two answers have it in `status`, which is the HTTP status here (RFC 9457). */
        AlreadyCompletedProblem: {
            /**
             * Format: uri-reference
             * @description Names the kind of problem and says where it is described.
             * @example /docs/errors#unknown_request
             */
            type: string;
            /**
             * @description The kind of problem in words, always the same.
             * @example No such request
             */
            title: string;
            /**
             * @description The status of the answer.
             * @example 404
             */
            status: number;
            /**
             * @description This problem in words.
             * @example There is no request 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.
             */
            detail: string;
            /**
             * Format: uri-reference
             * @description The path that was called; empty if the call was no readable HTTP.
             * @example /v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b
             */
            instance: string;
            /**
             * @description The stable name of the kind of problem.
             * @example unknown_request
             * @enum {string}
             */
            code: "bad_request" | "invalid_json" | "invalid_query" | "invalid_upload" | "not_completed" | "already_completed" | "missing_key" | "invalid_key" | "sign_in_refused" | "forbidden" | "invalid_upload_url" | "rate_limited" | "not_found" | "unknown_model" | "unknown_id" | "unknown_request" | "unknown_file" | "unknown_operation" | "method_not_allowed" | "conflict" | "claim_conflict" | "gone" | "lease_lost" | "worker_stopped" | "changed_meanwhile" | "body_too_large" | "too_large" | "unsupported_encoding" | "range_not_satisfiable" | "invalid_input" | "invalid_models_file" | "idempotency_key_reused" | "invalid_idempotency_key" | "cancelled" | "too_slow" | "caller_busy" | "queue_full" | "worker_resting" | "internal_error" | "model_error" | "model_unavailable" | "node_lost" | "worker_lost" | "unavailable" | "overloaded" | "model_paused" | "timed_out" | "expired" | "storage_full";
            /**
             * Format: date-time
             * @description When it went wrong, in UTC.
             * @example 2026-03-01T12:00:00.000Z
             */
            timestamp: string;
            /** @description With `invalid_input`: everything that does not fit the schema of the model. */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What the model itself said, as any JSON value.
             * @example {
             *       "reason": "the prompt was refused"
             *     }
             */
            details?: components["schemas"]["JsonValue"];
            /**
             * @description Always the same.
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
        /** @description The status of a request; `status` says which of the three it is. */
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
