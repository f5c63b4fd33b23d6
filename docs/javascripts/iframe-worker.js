/* Search when the pages are opened from a folder: browsers run no workers there, so a hidden frame does the work. */
(function () {
  if (location.protocol !== "file:") return;

  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inner = this.frame.contentWindow;
      this.ready = new Promise((resolve) => this.frame.addEventListener("load", resolve));
      const page = inner.document;
      page.open();
      page.write("<!doctype html><html><body></body></html>");
      // What a worker has and a frame has not.
      inner.postMessage = (data) => this.answer(data);
      inner.importScripts = (...urls) =>
        urls.reduce((before, each) => before.then(() => load(inner, each)), Promise.resolve());
      this.loaded = load(inner, url);
      page.close();
    }

    answer(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }

    postMessage(data) {
      Promise.all([this.ready, this.loaded]).then(() =>
        this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })),
      );
    }

    terminate() {
      this.frame.remove();
    }
  }

  function load(inner, url) {
    return new Promise((resolve, reject) => {
      const script = inner.document.createElement("script");
      script.src = url;
      script.onload = resolve;
      script.onerror = reject;
      inner.document.body.appendChild(script);
    });
  }

  window.Worker = FrameWorker;
})();
