import './styles/index.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { consolePath } from './api/base';
import { Problem } from './api/client';
import { App } from './app';
import { currentTheme, showTheme } from './parts/theme';

showTheme(currentTheme());

const isWorthAnother = (error: Error): boolean =>
  !(error instanceof Problem) || error.status === 0 || error.status >= 500;

const client = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => count < 2 && isWorthAnother(error),
      staleTime: 2_000,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

createRoot(document.querySelector('#console')!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <Router base={consolePath}>
        <App />
      </Router>
    </QueryClientProvider>
  </StrictMode>,
);
