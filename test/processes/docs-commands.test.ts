import { slowPages } from '../support/page-examples.js';
import { testPages } from '../support/page-tests.js';

testPages(slowPages, 240_000);
