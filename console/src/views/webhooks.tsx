export default function View() {
  return (
    <main className="page">
      <h1>webhooks</h1>
    </main>
  );
}
