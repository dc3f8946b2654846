# frozen_string_literal: true

module Mailer
  # Sends what is in an outbox, with several threads.
  class Sender
    def initialize(outbox, transport, threads: 2)
      @outbox = outbox
      @transport = transport
      @threads = threads
    end

    def start
      @workers = Array.new(@threads) do
        Thread.new { loop { @transport.deliver(@outbox.pop) } }
      end
    end
  end
end
