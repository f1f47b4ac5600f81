import { useData } from 'vitepress';
import { defineComponent, h, onMounted, shallowRef, useId, watch } from 'vue';

/** A diagram, drawn in the browser in the colours of the page. Until then, and without scripts, it is its source. */
export const Diagram = defineComponent({
  props: { code: { type: String, required: true } },
  setup(props) {
    const { isDark } = useData();
    const source = decodeURIComponent(props.code);
    const picture = shallowRef();
    const id = useId();

    async function draw() {
      const { default: mermaid } = await import('mermaid');
      mermaid.initialize({ startOnLoad: false, theme: isDark.value ? 'dark' : 'neutral' });
      const { svg } = await mermaid.render(`diagram-${id}`, source);
      picture.value = svg;
    }

    onMounted(draw);
    watch(isDark, draw);
    return () =>
      picture.value === undefined
        ? h('pre', source)
        : h('div', { class: 'diagram', innerHTML: picture.value });
  },
});
