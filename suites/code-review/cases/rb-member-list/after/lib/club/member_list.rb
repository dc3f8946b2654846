# frozen_string_literal: true

require "digest"
require "date"

module Club
  # The list of members, as the page shows it: in the order and with the columns that a request asks for.
  class MemberList
    COLUMNS = %w[name mail joined_on].freeze
    PICTURES = "https://pictures.example/avatar"

    class UnknownColumn < ArgumentError; end

    def initialize(members)
      @members = members
    end

    # `params` may have `sort`, `descending` and `columns`.
    def rows(params = {})
      columns = checked(params.fetch(:columns, %w[name mail]))
      sorted(params).map do |member|
        columns.map { |column| member.public_send(column) } << picture(member)
      end
    end

    private

    def sorted(params)
      key = params[:sort] || "name"
      checked([key])

      members = @members.sort_by { |member| [member.public_send(key), member.id] }
      params[:descending] == "true" ? members.reverse : members
    end

    def checked(columns)
      unknown = columns - COLUMNS
      raise UnknownColumn, "no such column: #{unknown.join(', ')}" unless unknown.empty?

      columns
    end

    # The service finds pictures by the MD5 of the address.
    def picture(member)
      "#{PICTURES}/#{Digest::MD5.hexdigest(member.mail.strip.downcase)}"
    end
  end
end
