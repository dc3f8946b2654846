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
      @workers = Array.new(@threads) { Thread.new { work } }
    end

    # Sends what is left, and ends.
    def stop
      @outbox.close
      @workers.each(&:join)
    end

    private

    def work
      while (message = @outbox.pop)
        begin
          @transport.deliver(message)
        rescue StandardError => e
          warn "mail to #{message.to}: #{e.message}"
        end
      end
    end
  end
end
