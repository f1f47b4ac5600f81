import './styles/index.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { consolePath } from './api/base';
import { queryClient } from './api/query-client';
import { App } from './app';
import { currentTheme, showTheme } from './parts/theme';

showTheme(currentTheme());

createRoot(document.querySelector('#console')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Router base={consolePath}>
        <App />
      </Router>
    </QueryClientProvider>
  </StrictMode>,
);
