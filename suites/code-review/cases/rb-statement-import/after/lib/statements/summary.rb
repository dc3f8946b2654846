# frozen_string_literal: true

require "statements/reader"

module Statements
  # What the morning mail says about each account.
  class Summary
    def initialize(reader)
      @reader = reader
    end

    # A line for an account, also where nothing was booked on it.
    def line(account)
      entries = @reader.by_account[account]
      format("%s: %d entries, %.2f", account, entries.size, entries.sum(&:cents) / 100.0)
    end

    def lines(accounts)
      accounts.map { |account| line(account) }
    end
  end
end
