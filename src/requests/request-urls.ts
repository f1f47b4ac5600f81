export interface RequestUrls {
  response_url: string;
  status_url: string;
  cancel_url: string;
}

export function requestUrls(base: string, requestId: string): RequestUrls {
  const response_url = `${base}/v1/queue/requests/${requestId}`;
  return { response_url, status_url: `${response_url}/status`, cancel_url: `${response_url}/cancel` };
}
