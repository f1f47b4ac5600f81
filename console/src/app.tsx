import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { readSession } from './api/calls';
import { Problem } from './api/client';
import { CurrentSession, may } from './parts/rights';
import { Bones, Failure } from './parts/states';
import { ViewBoundary } from './parts/view-boundary';
import { Shell } from './shell';
import { Overview } from './views/overview';
import { SignIn } from './views/sign-in';

const Model = lazy(() => import('./views/model'));
const Requests = lazy(() => import('./views/requests'));
const Request = lazy(() => import('./views/request'));
const Batches = lazy(() => import('./views/batches'));
const Batch = lazy(() => import('./views/batch'));
const Try = lazy(() => import('./views/try'));
const Keys = lazy(() => import('./views/keys'));
const Nodes = lazy(() => import('./views/nodes'));
const Webhooks = lazy(() => import('./views/webhooks'));
const Audit = lazy(() => import('./views/audit'));
const Sessions = lazy(() => import('./views/sessions'));

const linkInAddress = (): string | undefined => /^#link=(.+)$/.exec(window.location.hash)?.[1];

export function App() {
  const session = useQuery({
    queryKey: ['session'],
    queryFn: ({ signal }) => readSession(signal),
    // The page recovers by itself once the service answers again.
    refetchInterval: ({ state }) => (state.error === null ? 300_000 : 3_000),
  });
  const [path] = useLocation();
  // The link that the first start prints signs in once, and only after a click.
  const [link, setLink] = useState(linkInAddress);
  useEffect(() => {
    // Pasting the link into the address of an open tab does not load the page.
    const look = (): void => setLink(linkInAddress());
    window.addEventListener('hashchange', look);
    return () => window.removeEventListener('hashchange', look);
  }, []);
  const { data, error } = session;
  if (data === undefined && (error === null || (error instanceof Problem && error.status !== 401))) {
    return (
      <main className="page">
        <h1 className="hidden">Now Serving</h1>
        {error === null ? <Bones /> : <Failure error={error} onRetry={() => void session.refetch()} />}
      </main>
    );
  }
  const signedIn = data?.signed_in;
  if (!signedIn || link !== undefined) {
    return <SignIn key={link} session={data} link={link} onLinkDone={() => setLink(undefined)} />;
  }
  return (
    <CurrentSession value={signedIn}>
      <Shell session={signedIn}>
        {may(signedIn, 'observe') ? (
          <ViewBoundary path={path}>
            <Suspense fallback={<Waiting />}>
              <Switch>
                <Route path="/" component={Overview} />
                <Route path="/models/*">
                  {({ '*': id }) => <Model id={decodeURIComponent(id)} key={id} />}
                </Route>
                <Route path="/requests" component={Requests} />
                <Route path="/requests/:id">{({ id }) => <Request id={id} key={id} />}</Route>
                <Route path="/batches" component={Batches} />
                <Route path="/batches/:id">{({ id }) => <Batch id={id} key={id} />}</Route>
                <Route path="/try/*?">{({ '*': id }) => <Try model={id && decodeURIComponent(id)} />}</Route>
                <Route path="/keys" component={Keys} />
                <Route path="/nodes" component={Nodes} />
                <Route path="/webhooks" component={Webhooks} />
                <Route path="/audit" component={Audit} />
                <Route path="/sessions" component={Sessions} />
                <Route>
                  <main className="page">
                    <h1>View not found</h1>
                  </main>
                </Route>
              </Switch>
            </Suspense>
          </ViewBoundary>
        ) : (
          <main className="page">
            <h1>Your key cannot open the console</h1>
            <p>
              The console needs a key with the scope “observe”. “payloads” also shows inputs, outputs and
              logs. “admin” also allows changes. Your key has{' '}
              {signedIn.scopes.length === 0
                ? 'no scope'
                : signedIn.scopes.map((scope) => `“${scope}”`).join(', ')}
              .
            </p>
          </main>
        )}
      </Shell>
    </CurrentSession>
  );
}

const Waiting = () => (
  <main className="page">
    <Bones />
  </main>
);
